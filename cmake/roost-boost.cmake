# Boost.Asio's headers for the layer asio, found in the same way by Roost's build and by its installed package.

# Looks for Boost's headers. The second variable is empty, or a sentence that says what is wrong and what to do.
function(roost_find_boost folder why)
  set(needed 1.81)
  find_path(${folder} boost/asio/io_context.hpp HINTS ENV ROOST_BOOST_INCLUDE_DIR ${Boost_INCLUDE_DIR} ${Boost_ROOT}/include ENV BOOST_ROOT)
  set(do "install libboost1.81-dev, or name the folder of a newer Boost with -D${folder}=/path/to/boost")
  if(NOT ${folder})
    set(${why} "needs Boost ${needed} or newer, and no Boost.Asio was found: ${do}." PARENT_SCOPE)
    return()
  endif()
  file(STRINGS "${${folder}}/boost/version.hpp" line REGEX "^#define BOOST_LIB_VERSION ")
  string(REGEX REPLACE ".*\"([0-9]+)_([0-9]+).*" "\\1.\\2" version "${line}")
  if(version VERSION_LESS needed)
    set(${why} "needs Boost ${needed} or newer, and ${${folder}} holds Boost ${version}: ${do}." PARENT_SCOPE)
    return()
  endif()
  set(${why} "" PARENT_SCOPE)
endfunction()

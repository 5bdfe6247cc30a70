# libmicrohttpd for the layer admin. It is found in the same way by Roost's build and by its installed package.

# Defines the target roost::microhttpd. The variable is empty, or a sentence that says what is wrong and what to do.
function(roost_find_microhttpd why)
  set(${why} "" PARENT_SCOPE)
  find_path(ROOST_MICROHTTPD_INCLUDE_DIR microhttpd.h)
  find_library(ROOST_MICROHTTPD_LIBRARY microhttpd)
  mark_as_advanced(ROOST_MICROHTTPD_INCLUDE_DIR ROOST_MICROHTTPD_LIBRARY)
  if(NOT EXISTS "${ROOST_MICROHTTPD_INCLUDE_DIR}/microhttpd.h" OR NOT EXISTS "${ROOST_MICROHTTPD_LIBRARY}")
    set(${why} "needs libmicrohttpd, which was not found: install libmicrohttpd-dev." PARENT_SCOPE)
    return()
  endif()
  # The layer needs responses whose buffer is freed by a function of its own.
  file(STRINGS "${ROOST_MICROHTTPD_INCLUDE_DIR}/microhttpd.h" line REGEX "^#define MHD_VERSION 0x")
  string(REGEX REPLACE ".*0x([0-9a-fA-F]+).*" "\\1" version "${line}")
  if(version STRLESS "00097302")
    set(${why} "needs libmicrohttpd 0.9.74 or newer; ${ROOST_MICROHTTPD_INCLUDE_DIR} has an older one." PARENT_SCOPE)
    return()
  endif()
  if(NOT TARGET roost::microhttpd)
    add_library(roost::microhttpd UNKNOWN IMPORTED GLOBAL)
    set_target_properties(roost::microhttpd PROPERTIES
      IMPORTED_LOCATION "${ROOST_MICROHTTPD_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${ROOST_MICROHTTPD_INCLUDE_DIR}")
  endif()
endfunction()

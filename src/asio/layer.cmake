# Roost on Boost.Asio: needs its headers (libboost1.81-dev), and is left out when they are not there.

find_path(ROOST_BOOST_INCLUDE_DIR boost/asio/io_context.hpp)
set(ROOST_BOOST_VERSION 0)
if(ROOST_BOOST_INCLUDE_DIR)
  file(STRINGS "${ROOST_BOOST_INCLUDE_DIR}/boost/version.hpp" version_line REGEX "^#define BOOST_VERSION ")
  string(REGEX REPLACE "[^0-9]+([0-9]+).*" "\\1" ROOST_BOOST_VERSION "${version_line}")
endif()

if(ROOST_BOOST_VERSION LESS 108100)
  message(STATUS "roost: Boost 1.81 or newer was not found, so there is no layer asio")
else()
  roost_add_layer(asio DEPENDS task)
  # Asio without what it has of its own for coroutines and with no code for compilers that are not supported anyway.
  target_compile_definitions(roost_asio PUBLIC BOOST_ASIO_NO_DEPRECATED)
  if(NOT ROOST_BOOST_INCLUDE_DIR STREQUAL "/usr/include")
    target_include_directories(roost_asio SYSTEM PUBLIC $<BUILD_INTERFACE:${ROOST_BOOST_INCLUDE_DIR}>)
  endif()
endif()

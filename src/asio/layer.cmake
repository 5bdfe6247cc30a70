# Roost on Boost.Asio: needs Boost's headers. IF_FOUND, as in the presets, goes on without the layer when they are not there.

include("${PROJECT_SOURCE_DIR}/cmake/roost-boost.cmake")
roost_find_boost(ROOST_BOOST_INCLUDE_DIR why)
if(why AND NOT ROOST_ENABLE_ASIO STREQUAL "IF_FOUND")
  message(FATAL_ERROR "ROOST_ENABLE_ASIO is on, but the layer asio ${why}")
elseif(why)
  message(STATUS "roost: left out: the layer asio ${why}")
else()
  roost_add_layer(asio DEPENDS flow)
  # Asio without what it has of its own for coroutines and with no code for compilers that are not supported anyway.
  target_compile_definitions(roost_asio PUBLIC BOOST_ASIO_NO_DEPRECATED)
  if(NOT ROOST_BOOST_INCLUDE_DIR STREQUAL "/usr/include")
    target_include_directories(roost_asio SYSTEM PUBLIC $<BUILD_INTERFACE:${ROOST_BOOST_INCLUDE_DIR}>)
  endif()
endif()

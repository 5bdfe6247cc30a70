# An HTTP listener for operators: needs libmicrohttpd (libmicrohttpd-dev). IF_FOUND, as in the presets, goes on without the layer
# when it is not there.

include("${PROJECT_SOURCE_DIR}/cmake/roost-microhttpd.cmake")
roost_find_microhttpd(why)
if(why AND NOT ROOST_ENABLE_ADMIN STREQUAL "IF_FOUND")
  message(FATAL_ERROR "ROOST_ENABLE_ADMIN is on, but the layer admin ${why}")
elseif(why)
  message(STATUS "roost: left out: the layer admin ${why}")
elseif(NOT TARGET roost_service)
  message(FATAL_ERROR "ROOST_ENABLE_ADMIN is on, but the layer admin needs the layer service: set ROOST_ENABLE_SERVICE")
else()
  roost_add_layer(admin DEPENDS service io)
  foreach(library IN ITEMS roost_admin roost_admin_model)
    if(TARGET ${library})
      target_link_libraries(${library} PRIVATE roost::microhttpd)
    endif()
  endforeach()
endif()

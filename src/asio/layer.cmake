# Roost on Asio: needs the headers of Boost.Asio, or with ROOST_ASIO=standalone those of standalone Asio. IF_FOUND, as in the
# presets, goes on without the layer when they are not there.

include("${PROJECT_SOURCE_DIR}/cmake/roost-asio.cmake")
roost_find_asio(${ROOST_ASIO} roost_asio_folder why)
if(why AND NOT ROOST_ENABLE_ASIO STREQUAL "IF_FOUND")
  message(FATAL_ERROR "ROOST_ENABLE_ASIO is on, but the layer asio ${why}")
elseif(why)
  message(STATUS "roost: left out: the layer asio ${why}")
else()
  roost_add_layer(asio DEPENDS flow io)
  foreach(library IN ITEMS roost_asio roost_asio_model)
    if(TARGET ${library})
      roost_use_asio(${library} ${ROOST_ASIO} "${roost_asio_folder}")
    endif()
  endforeach()
endif()

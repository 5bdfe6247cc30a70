# Every examples/*.cpp is one program that ends by itself with status 0; ctest runs it.

file(GLOB example_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.cpp")
foreach(source IN LISTS example_sources)
  get_filename_component(stem "${source}" NAME_WE)
  if(stem MATCHES "^asio_" AND NOT TARGET roost::asio)
    continue()
  endif()
  if(stem MATCHES "^sqlite_" AND NOT TARGET roost::adapters_sqlite)
    continue()
  endif()
  add_executable(example_${stem} "${source}")
  target_link_libraries(example_${stem} PRIVATE roost::roost)
  if(TARGET roost::testing)
    target_link_libraries(example_${stem} PRIVATE roost::testing)
  endif()
  if(stem MATCHES "^asio_")
    target_link_libraries(example_${stem} PRIVATE roost::asio)
  endif()
  if(stem MATCHES "^sqlite_")
    target_link_libraries(example_${stem} PRIVATE roost::adapters_sqlite)
  endif()
  roost_apply_flags(example_${stem})
  set_target_properties(example_${stem} PROPERTIES
    OUTPUT_NAME ${stem}
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
  if(ROOST_BUILD_TESTS)
    add_test(NAME example_${stem} COMMAND example_${stem})
    set_tests_properties(example_${stem} PROPERTIES LABELS example TIMEOUT 60)
  endif()
endforeach()

# Larger ones have a folder and say themselves what they need.
add_subdirectory("${PROJECT_SOURCE_DIR}/examples/order_service" "${PROJECT_BINARY_DIR}/order_service")

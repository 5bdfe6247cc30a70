# Install rules and the package that find_package(roost) reads. Everything is relative to the
# prefix, so an installed tree can be moved.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(roost_targets roost)
foreach(layer IN LISTS ROOST_LAYERS)
  list(APPEND roost_targets roost_${layer})
endforeach()

install(TARGETS ${roost_targets} EXPORT roost_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/roost" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.inl")
install(EXPORT roost_targets
  FILE roost-targets.cmake
  NAMESPACE roost::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/roost)

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/roost-config.cmake.in"
  "${PROJECT_BINARY_DIR}/roost-config.cmake"
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/roost
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/roost-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/roost-config.cmake"
  "${PROJECT_BINARY_DIR}/roost-config-version.cmake"
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/roost)

# pkg-config: everything but the test tools and the adapters (which need their databases' own packages), users before used. The
# prefix is found from where the file lies.
set(roost_pc_libraries "")
foreach(layer IN LISTS ROOST_LAYERS)
  get_target_property(type roost_${layer} TYPE)
  if(type STREQUAL "STATIC_LIBRARY" AND NOT layer MATCHES "^testing|^adapters|^c$")
    set(roost_pc_libraries "-lroost_${layer} ${roost_pc_libraries}")
  endif()
endforeach()
string(STRIP "${roost_pc_libraries}" roost_pc_libraries)
file(RELATIVE_PATH roost_pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" roost_pc_prefix "${roost_pc_prefix}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/roost.pc.in" "${PROJECT_BINARY_DIR}/roost.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/roost.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DOCDIR})

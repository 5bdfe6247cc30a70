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

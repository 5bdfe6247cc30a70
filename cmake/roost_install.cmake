# Install rules and the package that find_package(roost) reads. Everything is relative to the
# prefix, so an installed tree can be moved.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(roost_targets roost)
foreach(layer IN LISTS ROOST_LAYERS)
  list(APPEND roost_targets roost_${layer})
endforeach()

# What has to be built before an install, without the tests.
add_custom_target(roost_libraries)
foreach(layer IN LISTS ROOST_LAYERS)
  add_dependencies(roost_libraries roost_${layer})
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
  PATH_VARS CMAKE_INSTALL_DATADIR
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/roost-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/roost-config.cmake"
  "${PROJECT_BINARY_DIR}/roost-config-version.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/roost-asio.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/roost-microhttpd.cmake"
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/roost)

# pkg-config: roost is the core and the service host; what needs another library has a file of its own, which requires roost. The
# prefix is found from where the file lies. Users come before what they use.
file(RELATIVE_PATH roost_pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" roost_pc_prefix "${roost_pc_prefix}")

function(_roost_pkg_config name description requires libraries)
  set(roost_pc_name "${name}")
  set(roost_pc_description "${description}")
  set(roost_pc_requires "${requires}")
  set(roost_pc_libraries "${libraries}")
  set(roost_pc_flags "")
  foreach(flag IN LISTS ARGN)
    string(APPEND roost_pc_flags " ${flag}")
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/roost.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

set(roost_core_libraries "")
foreach(layer IN LISTS ROOST_LAYERS)
  get_target_property(type roost_${layer} TYPE)
  if(type STREQUAL "STATIC_LIBRARY" AND NOT layer MATCHES "^testing|^adapters|^asio$|^admin$|^c$")
    string(PREPEND roost_core_libraries "-lroost_${layer} ")
  endif()
endforeach()
string(STRIP "${roost_core_libraries}" roost_core_libraries)
_roost_pkg_config(roost "${PROJECT_DESCRIPTION}" "" "${roost_core_libraries}")
_roost_pkg_config(roost-testing "Virtual time, streams in memory and the interleaving explorer of Roost" "roost = ${PROJECT_VERSION}" "-lroost_testing_streams -lroost_testing_core")
if(TARGET roost_asio)
  set(flags "")
  roost_asio_definitions(${ROOST_ASIO} definitions)
  foreach(definition IN LISTS definitions)
    list(APPEND flags "-D${definition}")
  endforeach()
  set(of "Boost.Asio 1.81")
  if(ROOST_ASIO STREQUAL "standalone")
    set(of "standalone Asio 1.26")
  endif()
  _roost_pkg_config(roost-asio "Roost on ${of} or newer" "roost = ${PROJECT_VERSION}" "-lroost_asio" ${flags})
endif()
if(TARGET roost_admin)
  _roost_pkg_config(roost-admin "Health and metrics of a Roost service on a listener of its own"
    "roost = ${PROJECT_VERSION}, libmicrohttpd >= 0.9.74" "-lroost_admin")
endif()
if(TARGET roost_adapters_sqlite)
  _roost_pkg_config(roost-sqlite "SQLite behind a pool of Roost" "roost = ${PROJECT_VERSION}, sqlite3" "-lroost_adapters_sqlite")
endif()
if(TARGET roost_adapters_postgres)
  _roost_pkg_config(roost-postgres "PostgreSQL behind a pool of Roost" "roost = ${PROJECT_VERSION}, libpq"
    "-lroost_adapters_postgres")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The checker that users run on their own tree: <prefix>/share/roost/roost-lint src/
install(PROGRAMS "${PROJECT_SOURCE_DIR}/tools/lint" DESTINATION ${CMAKE_INSTALL_DATADIR}/roost RENAME roost-lint)

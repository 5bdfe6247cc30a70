# An overlay port that builds the sources it lies in: vcpkg install roost --overlay-ports=packaging/vcpkg/ports
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
  FEATURES service ROOST_ENABLE_SERVICE)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DROOST_BUILD_TESTS=OFF
    -DROOST_BUILD_EXAMPLES=OFF
    -DROOST_BUILD_MODEL=OFF
    -DROOST_WERROR=OFF
    -DROOST_CCACHE=OFF
    ${FEATURE_OPTIONS})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME roost CONFIG_PATH lib/cmake/roost)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")

"""Conan 2 recipe. From the root of the sources: conan create packaging/conan -s compiler.cppstd=20"""

import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy

required_conan_version = ">=2.0"


class RoostConan(ConanFile):
    name = "roost"
    version = "0.1.0"
    license = "Apache-2.0"
    description = "Structured jobs, cancellation, graceful shutdown and pools for C++20 services"
    topics = ("coroutines", "structured-concurrency", "cancellation", "graceful-shutdown", "pool")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"service": [True, False]}
    default_options = {"service": True}

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "tools/lint"):
            copy(self, pattern, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for name in ("TESTS", "EXAMPLES", "MODEL"):
            toolchain.cache_variables[f"ROOST_BUILD_{name}"] = False
        toolchain.cache_variables["ROOST_WERROR"] = False
        toolchain.cache_variables["ROOST_ENABLE_SERVICE"] = bool(self.options.service)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        # The package's own roost-config.cmake says it best: layers as targets.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "roost")]

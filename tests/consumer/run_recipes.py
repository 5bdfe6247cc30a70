#!/usr/bin/env python3
"""Does what a recipe says, step by step, with stand-ins for the tool that would read it.

usage: run_recipes.py conan|vcpkg|image SOURCE_FOLDER WORK_FOLDER

conan: the methods of conanfile.py, then a consumer. vcpkg: portfile.cmake, then a consumer. image: the commands of the Dockerfile,
in a folder instead of a container, then the service. Conan, vcpkg and Docker themselves are not run.
"""

import fnmatch
import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import types

# What the recipes say is tried here, not what the optimiser does with it.
FAST = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O0", "-DROOST_UNITY=ON"]
HERE = pathlib.Path(__file__).resolve().parent


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}")
    return done.stdout


def check(holds, sentence):
    if not holds:
        sys.exit(f"FAILED: {sentence}")


def consume(prefix, work):
    """A user's project against what was packaged."""
    run("cmake", "-S", HERE / "installed", "-B", work / "consumer", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", work / "consumer")
    print(run(work / "consumer" / "consumer").strip())


def copy_matching(_recipe, pattern, source, target):
    """conan.tools.files.copy: the pattern is matched against the path below source."""
    for path in pathlib.Path(source).rglob(pattern.split("/")[0] if "/" in pattern else pattern):
        for file in [path] if path.is_file() else path.rglob("*"):
            below = file.relative_to(source)
            if file.is_file() and fnmatch.fnmatch(str(below), pattern):
                (pathlib.Path(target) / below).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, pathlib.Path(target) / below)


class Toolchain:
    def __init__(self, recipe):
        self.recipe, self.cache_variables = recipe, {}

    def generate(self):
        self.recipe.toolchain = {name: str(value) for name, value in self.cache_variables.items()}


class Cmake:
    def __init__(self, recipe):
        self.recipe = recipe

    def configure(self):
        given = [f"-D{name}={value}" for name, value in self.recipe.toolchain.items()]
        run("cmake", "-S", self.recipe.source_folder, "-B", self.recipe.build_folder, *FAST, *given)

    def build(self):
        run("cmake", "--build", self.recipe.build_folder, "-j", "2")

    def install(self):
        run("cmake", "--install", self.recipe.build_folder, "--prefix", self.recipe.package_folder)


def conan_stand_ins():
    made = {name: types.ModuleType(name) for name in ("conan", "conan.tools", "conan.tools.build", "conan.tools.cmake", "conan.tools.files")}
    made["conan"].ConanFile = object
    made["conan.tools.build"].check_min_cppstd = lambda recipe, least: check(least <= 20, "more than C++20 is asked for")
    made["conan.tools.cmake"].CMake = Cmake
    made["conan.tools.cmake"].CMakeToolchain = Toolchain
    made["conan.tools.cmake"].cmake_layout = lambda recipe: None
    made["conan.tools.files"].copy = copy_matching
    sys.modules.update(made)


def conan(source, work):
    conan_stand_ins()
    file = source / "packaging/conan/conanfile.py"
    spec = importlib.util.spec_from_file_location("conanfile", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    recipe = module.RoostConan()
    recipe.recipe_folder, recipe.export_sources_folder = str(file.parent), str(work / "sources")
    recipe.source_folder, recipe.build_folder, recipe.package_folder = work / "sources", work / "build", work / "package"
    recipe.options = types.SimpleNamespace(**module.RoostConan.default_options)
    properties = {}
    recipe.cpp_info = types.SimpleNamespace(set_property=properties.__setitem__, builddirs=[])
    for step in ("export_sources", "layout", "validate", "generate", "build", "package", "package_info"):
        getattr(recipe, step)()
    for folder in recipe.cpp_info.builddirs:
        check((recipe.package_folder / folder / "roost-config.cmake").exists(), f"package_info names {folder}, which has no roost-config.cmake")
    consume(recipe.package_folder, work)


STAND_INS = r"""
set(CURRENT_PACKAGES_DIR "@WORK@/package")
set(FEATURES core service)
function(vcpkg_check_features)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES")
  list(GET arg_FEATURES 0 feature)
  list(GET arg_FEATURES 1 option)
  list(FIND FEATURES "${feature}" at)
  if(at EQUAL -1)
    set(${arg_OUT_FEATURE_OPTIONS} "-D${option}=OFF" PARENT_SCOPE)
  else()
    set(${arg_OUT_FEATURE_OPTIONS} "-D${option}=ON" PARENT_SCOPE)
  endif()
endfunction()
function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${said}")
  endif()
endfunction()
function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  must(cmake -S "${arg_SOURCE_PATH}" -B "@WORK@/build" @FAST@ ${arg_OPTIONS})
endfunction()
function(vcpkg_cmake_install)
  must(cmake --build "@WORK@/build" -j 2)
  must(cmake --install "@WORK@/build" --prefix "${CURRENT_PACKAGES_DIR}")
endfunction()
# From lib/cmake/roost to share/roost: one folder less up to the prefix, as vcpkg's own script corrects it.
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "PACKAGE_NAME;CONFIG_PATH" "")
  set(to "${CURRENT_PACKAGES_DIR}/share/${arg_PACKAGE_NAME}")
  file(COPY "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/" DESTINATION "${to}")  # beside roost-lint
  file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}")
  file(GLOB files "${to}/*.cmake")
  foreach(file IN LISTS files)
    file(READ "${file}" text)
    string(REPLACE "/../../../" "/../../" text "${text}")
    set(up "get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\n")
    string(REPLACE "${up}${up}" "${up}" text "${text}")
    file(WRITE "${file}" "${text}")
  endforeach()
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  file(COPY ${arg_FILE_LIST} DESTINATION "${CURRENT_PACKAGES_DIR}/share/roost")
endfunction()
include("@PORT@/portfile.cmake")
"""


def vcpkg(source, work):
    port = source / "packaging/vcpkg/ports/roost"
    script = work / "port.cmake"
    script.write_text(STAND_INS.replace("@WORK@", str(work)).replace("@PORT@", str(port)).replace("@FAST@", " ".join(FAST)))
    run("cmake", "-P", script)
    check((work / "package/share/roost/LICENSE").exists(), "no copyright was installed")
    consume(work / "package", work)


def image(source, work):
    text = (source / "template/deploy/Dockerfile").read_text().replace("\\\n", " ")
    places = {"/src": work / "src", "/build": work / "build", "/opt": work / "opt"}
    shutil.copytree(source / "template", work / "context" / "shop")
    for name in ("CMakeLists.txt", "LICENSE", "cmake", "include", "src", "tools"):
        target = work / "context" / "roost" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (source / name).is_dir() else shutil.copy2)(source / name, target)

    def moved(words):
        for place, folder in places.items():
            words = re.sub(rf"(?<![\w/]){place}/", str(folder) + "/", words)
        return words

    first_stage = re.split(r"^FROM ", text, flags=re.MULTILINE)[1]
    ran = 0
    for line in first_stage.splitlines():
        if line.startswith("COPY "):
            _, what, where = line.split()
            shutil.copytree(work / "context" / what, moved(where))
        elif line.startswith("RUN ") and "apt-get" not in line:
            run("sh", "-ec", moved(line[4:]))
            ran += 1
    check(ran > 0, "the Dockerfile builds nothing")
    built = shlex.split(re.search(r"^COPY --from=build (.*)$", text, re.MULTILINE).group(1))[0]
    print(run(sys.executable, HERE / "run_template.py", moved(built)).strip())


def main():
    kind, source, work = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    if shutil.which("ccache"):
        os.environ.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
    if shutil.which("ninja"):
        os.environ.setdefault("CMAKE_GENERATOR", "Ninja")
    {"conan": conan, "vcpkg": vcpkg, "image": image}[kind](source, work)
    print(f"{kind}: ok")


main()

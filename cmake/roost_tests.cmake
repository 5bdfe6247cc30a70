# Test executables by file name. In tests/<layer>/:
#
#   x_test.cpp     <layer>_test           unit and property tests
#   x_stress.cpp   <layer>_stress         real threads, length set by ROOST_STRESS_SECONDS
#   x_model.cpp    <layer>_model          on the explorer's atomics
#                  <layer>_model_native   the same file on real threads
#   x_fail.cpp     one ctest entry each   must not compile, see expect_compile_error.py
#   x_fuzz.cpp     <layer>_x_fuzz         libFuzzer target; elsewhere replays its corpus

find_package(GTest REQUIRED)
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

set(ROOST_TEST_TIMEOUT 300 CACHE STRING "Seconds after which a test executable counts as hung")

# What the presets model and fuzz build, instead of everything.
add_custom_target(roost_models)
add_custom_target(roost_fuzzers)

# One precompiled gtest for the tests on real atomics, one for the models.
function(_roost_test_pch name)
  add_library(${name} OBJECT EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/tests/support/pch.cpp")
  target_link_libraries(${name} PRIVATE GTest::gtest Threads::Threads ${ARGN})
  target_precompile_headers(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests/support/pch.hpp")
  _roost_test_flags(${name})
endfunction()

function(_roost_test_flags target)
  roost_apply_flags(${target})
  # Left to the compiler's default, so that objects and executables share one precompiled header.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests/support")
  roost_pch_flags(${target})
endfunction()

function(_roost_add_test_executable name label pch)
  cmake_parse_arguments(arg "" "SHARDS;TIMEOUT" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT ${ROOST_TEST_TIMEOUT})
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest_main)
  _roost_test_flags(${name})
  if(label STREQUAL "model")
    roost_model_speed(${name})
    add_dependencies(roost_models ${name})
  endif()
  if(ROOST_PCH)
    target_precompile_headers(${name} REUSE_FROM ${pch})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${arg_TIMEOUT})
endfunction()

# Tests of layers below task link only the part of the testing layer that needs no task.
function(_roost_test_libraries out layer suffix)
  set(libraries "")
  if(TARGET roost_${layer}${suffix})
    list(APPEND libraries roost_${layer}${suffix})
  endif()
  if(layer MATCHES "^(base|exec|sync|tree)$")
    set(kit roost_testing_core${suffix})
  else()
    set(kit roost_testing${suffix})
    # The layer table lets these tests run on the real runtime too; models stay on the manual executor.
    if(NOT suffix AND TARGET roost_runtime)
      list(APPEND libraries roost_runtime)
    endif()
  endif()
  if(TARGET ${kit})
    list(APPEND libraries ${kit})
  endif()
  set(${out} "${libraries}" PARENT_SCOPE)
endfunction()

function(roost_add_layer_tests layer)
  cmake_parse_arguments(arg "" "FOLDER" "" ${ARGN})
  if(NOT arg_FOLDER)
    set(arg_FOLDER ${layer})
  endif()
  set(dir "${PROJECT_SOURCE_DIR}/tests/${arg_FOLDER}")
  foreach(kind test stress model fail fuzz)
    file(GLOB ${kind}_sources CONFIGURE_DEPENDS "${dir}/*_${kind}.cpp" "${dir}/*/*_${kind}.cpp")
  endforeach()
  _roost_test_libraries(native ${layer} "")

  if(test_sources)
    _roost_add_test_executable(${layer}_test unit roost_test_pch
      SOURCES ${test_sources} LIBRARIES ${native})
  endif()
  if(stress_sources)
    _roost_add_test_executable(${layer}_stress stress roost_test_pch
      SOURCES ${stress_sources} LIBRARIES ${native})
  endif()
  if(model_sources)
    if(ROOST_BUILD_NATIVE_MODELS)
      _roost_add_test_executable(${layer}_model_native unit roost_test_pch
        SOURCES ${model_sources} LIBRARIES ${native})
    endif()
    if(ROOST_MODEL_HOOKS)
      _roost_test_libraries(model ${layer} "_model")
      _roost_add_test_executable(${layer}_model model roost_test_pch_model
        SOURCES ${model_sources} LIBRARIES ${model} TIMEOUT 1800)
    endif()
  endif()
  foreach(source IN LISTS fail_sources)
    _roost_add_fail_test(${layer} "${source}")
  endforeach()
  foreach(source IN LISTS fuzz_sources)
    _roost_add_fuzz_test(${layer} "${source}" "${native}")
  endforeach()
endfunction()

function(_roost_add_fail_test layer source)
  get_filename_component(stem "${source}" NAME_WE)
  add_test(NAME ${layer}_${stem}
    COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/cmake/expect_compile_error.py" "${source}"
      -- "${CMAKE_CXX_COMPILER}" -std=c++20 -fsyntax-only "-I${PROJECT_SOURCE_DIR}/include" -Wall -Wextra -Werror)
  set_tests_properties(${layer}_${stem} PROPERTIES LABELS unit TIMEOUT ${ROOST_TEST_TIMEOUT})
endfunction()

function(_roost_add_fuzz_test layer source libraries)
  get_filename_component(stem "${source}" NAME_WE)
  set(corpus "${PROJECT_SOURCE_DIR}/tests/${layer}/corpus/${stem}")
  set(name ${layer}_${stem})
  if(ROOST_BUILD_FUZZ)
    add_executable(${name} "${source}")
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set(arguments -runs=0)
  else()
    add_executable(${name} "${source}" "${PROJECT_SOURCE_DIR}/tests/support/fuzz_main.cpp")
    set(arguments "")
  endif()
  target_link_libraries(${name} PRIVATE ${libraries})
  roost_apply_flags(${name})
  add_dependencies(roost_fuzzers ${name})
  if(EXISTS "${corpus}")
    add_test(NAME ${name} COMMAND ${name} ${arguments} "${corpus}")
    set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT ${ROOST_TEST_TIMEOUT})
  endif()
endfunction()

_roost_test_pch(roost_test_pch)
if(ROOST_MODEL_HOOKS)
  _roost_test_pch(roost_test_pch_model)
  target_compile_definitions(roost_test_pch_model PRIVATE ROOST_SEAM_MODEL)
  roost_model_speed(roost_test_pch_model)
endif()
if(ROOST_SEAM STREQUAL "jitter")
  target_compile_definitions(roost_test_pch PRIVATE ROOST_SEAM_JITTER)
endif()

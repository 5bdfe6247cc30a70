# Options of the build. Everything that is not the library itself is off unless Roost is the
# top-level project, so that a user's build pays for nothing it did not ask for.

option(ROOST_BUILD_TESTS "Build the tests (needs GoogleTest)" ${PROJECT_IS_TOP_LEVEL})
option(ROOST_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(ROOST_BUILD_BENCH "Build the benchmarks (needs Google Benchmark)" OFF)
option(ROOST_UNITY "Compile the sources of a layer together: soon built, slowly rebuilt" OFF)
option(ROOST_UNITY_TESTS "Compile sixteen files of tests together" OFF)
option(ROOST_BUILD_MODEL "Build the layers a second time on the explorer's atomics" ${PROJECT_IS_TOP_LEVEL})
option(ROOST_BUILD_NATIVE_MODELS "Build the models on real threads too" ${PROJECT_IS_TOP_LEVEL})
option(ROOST_BUILD_FUZZ "Build the fuzz targets with libFuzzer (clang only)" OFF)
option(ROOST_INSTALL "Create the install rules" ${PROJECT_IS_TOP_LEVEL})
option(ROOST_WERROR "Treat warnings as errors; the presets do" OFF)
option(ROOST_PCH "Compile with precompiled standard headers" ${PROJECT_IS_TOP_LEVEL})
option(ROOST_CCACHE "Compile through ccache when it is installed" ${PROJECT_IS_TOP_LEVEL})

option(ROOST_ENABLE_SERVICE "Build the layer service" OFF)
option(ROOST_ENABLE_ADAPTERS "Build the layer adapters: SQLite and PostgreSQL, each when its library is found" OFF)
option(ROOST_ENABLE_CONSOLE "Build the layer console" OFF)
option(ROOST_ENABLE_C "Build the layer c" OFF)

option(ROOST_ENABLE_USDT "Compile static probes for bpftrace in (needs sys/sdt.h of systemtap-sdt-dev)" OFF)

set(ROOST_ENABLE_ASIO OFF CACHE STRING "Build the layer asio: ON, OFF, or IF_FOUND to go on without it")
set_property(CACHE ROOST_ENABLE_ASIO PROPERTY STRINGS ON OFF IF_FOUND)
set(ROOST_ENABLE_ADMIN OFF CACHE STRING "Build the layer admin: ON, OFF, or IF_FOUND to go on without it")
set_property(CACHE ROOST_ENABLE_ADMIN PROPERTY STRINGS ON OFF IF_FOUND)
set(ROOST_ASIO "boost" CACHE STRING "The Asio of the layer asio: boost (Boost 1.81 or newer) or standalone (Asio 1.26 or newer)")
set_property(CACHE ROOST_ASIO PROPERTY STRINGS boost standalone)

set(ROOST_SEAM "native" CACHE STRING "What the seam of the ordinary targets is made of: native or jitter")
set_property(CACHE ROOST_SEAM PROPERTY STRINGS native jitter)
set(ROOST_SANITIZE "" CACHE STRING "Sanitizers for every target, for example address,undefined")

if(NOT ROOST_SEAM MATCHES "^(native|jitter)$")
  message(FATAL_ERROR "ROOST_SEAM is '${ROOST_SEAM}'; it has to be native or jitter (models are targets of their own)")
endif()
if(NOT ROOST_ASIO MATCHES "^(boost|standalone)$")
  message(FATAL_ERROR "ROOST_ASIO is '${ROOST_ASIO}'; it has to be boost or standalone")
endif()
if(ROOST_BUILD_TESTS AND NOT ROOST_BUILD_MODEL)
  message(STATUS "roost: model tests are left out because ROOST_BUILD_MODEL is off")
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12.2)
  message(FATAL_ERROR "Roost needs g++ 12.2 or newer, this is ${CMAKE_CXX_COMPILER_VERSION}")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
  message(FATAL_ERROR "Roost needs clang 16 or newer (older ones cache thread-locals across co_await), "
                      "this is ${CMAKE_CXX_COMPILER_VERSION}")
endif()

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
  endif()
  if(ROOST_CCACHE AND (NOT CMAKE_CXX_COMPILER_LAUNCHER OR CMAKE_CXX_COMPILER_LAUNCHER STREQUAL "ccache"))
    find_program(ROOST_CCACHE_PROGRAM ccache)
    if(ROOST_CCACHE_PROGRAM)
      # Precompiled headers are only cached when ccache may ignore their defines and time stamps.
      set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        ${ROOST_CCACHE_PROGRAM})
    endif()
  endif()
  if(ROOST_SANITIZE)
    add_compile_options(-fsanitize=${ROOST_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${ROOST_SANITIZE})
  endif()
endif()

find_package(Threads REQUIRED)

if(ROOST_ENABLE_USDT)
  include(CheckIncludeFileCXX)
  check_include_file_cxx(sys/sdt.h ROOST_HAS_SDT_H)
  if(NOT ROOST_HAS_SDT_H)
    message(FATAL_ERROR "ROOST_ENABLE_USDT needs sys/sdt.h; install systemtap-sdt-dev")
  endif()
  add_compile_definitions(ROOST_ENABLE_USDT)
endif()

# Flags of our own translation units; users never inherit them.
function(roost_apply_flags target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    $<$<BOOL:${ROOST_WERROR}>:-Werror>)
  # g++ 12 sees overflows in every optimised "text" + std::string, and empty optionals read; taken for false positives.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds
      -Wno-maybe-uninitialized)
  endif()
  # Nobody replaces single functions of ours, so they may be inlined into each other; clang takes that for granted.
  target_compile_options(${target} PRIVATE
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-fno-semantic-interposition>)
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 20
    CXX_STANDARD_REQUIRED ON
    CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON)
endfunction()

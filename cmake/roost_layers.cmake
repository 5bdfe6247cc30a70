# One library per layer, made from what lies in src/<layer>/.
#
#   roost_<layer>, alias roost::<layer>    what users link
#   roost_<layer>_model                    the same sources on the explorer's atomics
#
# A layer whose folders do not exist is skipped, and so is the dependency on it.

set(ROOST_LAYERS "" CACHE INTERNAL "layers of this build, lowest first")
set(ROOST_MODEL_LAYERS "" CACHE INTERNAL "layers that also exist on the explorer's atomics")
set(ROOST_MODEL_HOOKS "" CACHE INTERNAL "the model target that defines what base's model seam declares")

function(_roost_link_layers target suffix)
  foreach(dependency IN LISTS ARGN)
    if(TARGET roost_${dependency}${suffix})
      target_link_libraries(${target} PUBLIC roost_${dependency}${suffix})
    endif()
  endforeach()
endfunction()

function(_roost_interface_link_layers target suffix)
  foreach(dependency IN LISTS ARGN)
    if(TARGET roost_${dependency}${suffix})
      target_link_libraries(${target} INTERFACE roost_${dependency}${suffix})
    endif()
  endforeach()
endfunction()

# What users of any layer inherit.
function(_roost_usage target scope)
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  # Without this g++ turns every symmetric transfer of a debug build into a stack frame.
  target_compile_options(${target} ${scope}
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Debug>>:-foptimize-sibling-calls>)
  target_link_libraries(${target} ${scope} Threads::Threads)
endfunction()

# Not tree: its files have names of their own for the same states.
function(_roost_unite target layer)
  if(ROOST_UNITY AND NOT layer STREQUAL "tree")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    roost_united_flags(${target})
  endif()
endfunction()

# g++ takes every type of an unnamed namespace outside the main file for one of a header, and so the frame of every coroutine that
# holds one.
function(roost_united_flags target)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

function(roost_add_layer layer)
  cmake_parse_arguments(arg "MODEL_HOOKS" "FOLDER" "DEPENDS;SUBFOLDERS" ${ARGN})
  if(NOT arg_FOLDER)
    set(arg_FOLDER ${layer})
  endif()
  set(source_dir "${PROJECT_SOURCE_DIR}/src/${arg_FOLDER}")
  set(header_dir "${PROJECT_SOURCE_DIR}/include/roost/${arg_FOLDER}")
  set(patterns "${source_dir}/*.cpp")
  foreach(folder IN LISTS arg_SUBFOLDERS)
    list(APPEND patterns "${source_dir}/${folder}/*.cpp")
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  file(GLOB headers CONFIGURE_DEPENDS "${header_dir}/*.hpp" "${header_dir}/*.h")
  if(NOT sources AND NOT headers)
    return()
  endif()

  if(sources)
    add_library(roost_${layer} STATIC ${sources})
    _roost_usage(roost_${layer} PUBLIC)
    _roost_link_layers(roost_${layer} "" ${arg_DEPENDS})
    if(ROOST_SEAM STREQUAL "jitter")
      target_compile_definitions(roost_${layer} PUBLIC ROOST_SEAM_JITTER)
    endif()
    roost_apply_flags(roost_${layer})
    _roost_library_pch(roost_${layer} "")
    _roost_unite(roost_${layer} ${layer})
  else()
    add_library(roost_${layer} INTERFACE)
    _roost_usage(roost_${layer} INTERFACE)
    _roost_interface_link_layers(roost_${layer} "" ${arg_DEPENDS})
    if(ROOST_SEAM STREQUAL "jitter")
      target_compile_definitions(roost_${layer} INTERFACE ROOST_SEAM_JITTER)
    endif()
  endif()
  add_library(roost::${layer} ALIAS roost_${layer})
  set_target_properties(roost_${layer} PROPERTIES EXPORT_NAME ${layer})
  set(ROOST_LAYERS ${ROOST_LAYERS} ${layer} CACHE INTERNAL "")

  if(ROOST_BUILD_MODEL)
    _roost_add_model_layer(${layer} "${arg_DEPENDS}" "${sources}")
    if(arg_MODEL_HOOKS AND sources)
      set(ROOST_MODEL_HOOKS roost_${layer}_model CACHE INTERNAL "")
    endif()
  endif()
endfunction()

# The standard headers once per kind of library. Inside another project there are none, so a missing #include is noticed by
# the consumer tests; headers are compiled alone by tools/check_headers.
function(_roost_library_pch target suffix)
  if(NOT ROOST_PCH)
    return()
  endif()
  set(pch roost_library_pch${suffix})
  if(NOT TARGET ${pch})
    file(WRITE "${PROJECT_BINARY_DIR}/anchors/${pch}.cpp" "")
    add_library(${pch} OBJECT EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/anchors/${pch}.cpp")
    _roost_usage(${pch} PRIVATE)
    roost_apply_flags(${pch})
    if(suffix)
      target_compile_definitions(${pch} PRIVATE ROOST_SEAM_MODEL)
      roost_model_speed(${pch})
    elseif(ROOST_SEAM STREQUAL "jitter")
      target_compile_definitions(${pch} PRIVATE ROOST_SEAM_JITTER)
    endif()
    roost_pch_flags(${pch})
    target_precompile_headers(${pch} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/library_pch.hpp")
  endif()
  roost_pch_flags(${target})
  target_precompile_headers(${target} REUSE_FROM ${pch})
endfunction()

# ccache can only reuse what was compiled with a precompiled header when it may preprocess it.
function(roost_pch_flags target)
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()

# The model variants are static libraries even when empty: base's model seam calls into the
# explorer, which uses base, and only static libraries may depend on each other in a circle.
function(_roost_add_model_layer layer dependencies sources)
  set(anchor "${PROJECT_BINARY_DIR}/anchors/${layer}_model.cpp")
  if(NOT EXISTS "${anchor}")
    file(WRITE "${anchor}" "namespace roost { extern const char ${layer}_model_anchor; const char ${layer}_model_anchor = 0; }\n")
  endif()
  add_library(roost_${layer}_model STATIC EXCLUDE_FROM_ALL ${sources} "${anchor}")
  _roost_usage(roost_${layer}_model PUBLIC)
  _roost_link_layers(roost_${layer}_model "_model" ${dependencies})
  target_compile_definitions(roost_${layer}_model PUBLIC ROOST_SEAM_MODEL)
  roost_apply_flags(roost_${layer}_model)
  roost_model_speed(roost_${layer}_model)
  _roost_library_pch(roost_${layer}_model "_model")
  _roost_unite(roost_${layer}_model ${layer})
  set(ROOST_MODEL_LAYERS ${ROOST_MODEL_LAYERS} ${layer} CACHE INTERNAL "")
endfunction()

# A search executes millions of runs, so models are optimised even in debug builds.
function(roost_model_speed target)
  if(NOT ROOST_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-O2>)
  endif()
endfunction()

# A name for several layers.
function(roost_add_group layer)
  cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
  foreach(suffix "" "_model")
    set(found "")
    foreach(dependency IN LISTS arg_DEPENDS)
      if(TARGET roost_${dependency}${suffix})
        list(APPEND found ${dependency})
      endif()
    endforeach()
    if(NOT found)
      continue()
    endif()
    add_library(roost_${layer}${suffix} INTERFACE)
    _roost_interface_link_layers(roost_${layer}${suffix} "${suffix}" ${found})
    if(NOT suffix)
      add_library(roost::${layer} ALIAS roost_${layer})
      set_target_properties(roost_${layer} PROPERTIES EXPORT_NAME ${layer})
      set(ROOST_LAYERS ${ROOST_LAYERS} ${layer} CACHE INTERNAL "")
    endif()
  endforeach()
endfunction()

# What a library of the layer asio and its users have to know of Asio's form (cmake/roost-asio.cmake).
function(roost_use_asio target form folder)
  roost_asio_definitions(${form} definitions)
  target_compile_definitions(${target} PUBLIC ${definitions})
  if(NOT folder STREQUAL "/usr/include")
    target_include_directories(${target} SYSTEM PUBLIC $<BUILD_INTERFACE:${folder}>)
  endif()
endfunction()

function(roost_add_optional_layer layer)
  string(TOUPPER ${layer} upper)
  if(NOT ROOST_ENABLE_${upper})
    return()
  endif()
  # A layer with dependencies of its own says so in src/<layer>/layer.cmake.
  roost_add_layer(${layer} ${ARGN})
  if(NOT TARGET roost_${layer})
    message(FATAL_ERROR "ROOST_ENABLE_${upper} is on, but there is no layer '${layer}' in this version")
  endif()
  if(EXISTS "${PROJECT_SOURCE_DIR}/src/${layer}/layer.cmake")
    include("${PROJECT_SOURCE_DIR}/src/${layer}/layer.cmake")
  endif()
endfunction()

function(roost_finish_layers)
  if(ROOST_MODEL_HOOKS AND TARGET roost_base_model)
    target_link_libraries(roost_base_model PUBLIC ${ROOST_MODEL_HOOKS})
  endif()
  add_library(roost INTERFACE)
  add_library(roost::roost ALIAS roost)
  foreach(layer IN LISTS ROOST_LAYERS)
    # A program that needs a database, Boost.Asio or the admin listener names the layer.
    if(NOT layer MATCHES "^testing|^adapters|^asio$|^admin$|^c$")
      target_link_libraries(roost INTERFACE roost_${layer})
    endif()
  endforeach()
endfunction()

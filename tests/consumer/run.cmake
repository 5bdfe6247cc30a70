# Builds and runs a user's project. installed: from an installed tree that was moved afterwards;
# embedded: with add_subdirectory, where nothing but the linked layers may be built.

set(here "${CMAKE_CURRENT_LIST_DIR}")
set(work "${build}/consumer ${way}")
file(REMOVE_RECURSE "${work}")
file(MAKE_DIRECTORY "${work}")

function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(arguments -G "${generator}" "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_BUILD_TYPE=${type}")
if(sanitize)
  list(APPEND arguments "-DCMAKE_CXX_FLAGS=-fsanitize=${sanitize}")
endif()

if(way STREQUAL "installed")
  run("install" ${CMAKE_COMMAND} --install "${build}" --prefix "${work}/first" --config "${type}")
  file(RENAME "${work}/first" "${work}/moved")
  list(APPEND arguments "-DCMAKE_PREFIX_PATH=${work}/moved")
else()
  list(APPEND arguments "-Droost_source=${source}")
endif()

run("configure" ${CMAKE_COMMAND} -S "${here}/${way}" -B "${work}/build" ${arguments})
run("build" ${CMAKE_COMMAND} --build "${work}/build" --config "${type}")
run("the program" "${work}/build/consumer")
message(STATUS "${output}")

if(way STREQUAL "embedded")
  # A user's build must not contain our tests, examples or install rules.
  file(GLOB_RECURSE unwanted "${work}/build/*_test" "${work}/build/*_model" "${work}/build/roost-config.cmake")
  if(unwanted)
    message(FATAL_ERROR "an embedded Roost built what nobody asked for: ${unwanted}")
  endif()
else()
  # No path of the build may be left in what was installed.
  file(GLOB scripts "${work}/moved/*/cmake/roost/*.cmake" "${work}/moved/*/*/cmake/roost/*.cmake")
  if(NOT scripts)
    message(FATAL_ERROR "no package was installed")
  endif()
  foreach(script IN LISTS scripts)
    file(READ "${script}" text)
    foreach(path IN ITEMS "${source}/" "${build}/" "${work}/first")
      string(FIND "${text}" "${path}" at)
      if(NOT at EQUAL -1)
        message(FATAL_ERROR "${script} contains the path ${path}")
      endif()
    endforeach()
  endforeach()
  # A layer that does not exist has to be refused in words.
  execute_process(COMMAND ${CMAKE_COMMAND} -S "${here}/${way}" -B "${work}/refused" ${arguments} -Dextra=nonsense
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(status EQUAL 0 OR NOT output MATCHES "has no layer[ \n]+'nonsense'")
    message(FATAL_ERROR "a missing layer was not refused as it should be:\n${output}")
  endif()
endif()

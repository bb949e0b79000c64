# wmfix for CMake projects.
#
#   include(path/to/wmfix.cmake)
#   wmfix_add_check(queue_test)
#
# wmfix_add_check(TARGET [NAME name] [RUNS n] [ARGS argument...] [OPTIONS option...])
#
# Adds a test that builds the sources of TARGET, an executable of this project,
# once more with wmfix's compiler wrappers and runs `wmfix run` on it. It fails if
# there are findings. The usual build of TARGET is not touched.
#
#   NAME     of the test; wmfix.TARGET if absent
#   RUNS     stop after this many consecutive runs without a new finding
#   ARGS     arguments of the program
#   OPTIONS  further options of `wmfix run`
include_guard(GLOBAL)

find_program(WMFIX_EXECUTABLE wmfix DOC "The wmfix command")

function(wmfix_add_check target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME;RUNS" "ARGS;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "wmfix_add_check: what is ${arg_UNPARSED_ARGUMENTS}?")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "wmfix_add_check: there is no target ${target}")
  endif()
  if(NOT WMFIX_EXECUTABLE)
    message(FATAL_ERROR "wmfix_add_check: wmfix is not on the PATH; set WMFIX_EXECUTABLE")
  endif()
  if(NOT arg_NAME)
    set(arg_NAME wmfix.${target})
  endif()
  # Within a build by the wrappers, ours or that of `wmfix check`, there is nothing
  # to add.
  if("${CMAKE_C_COMPILER};${CMAKE_CXX_COMPILER}" MATCHES "wmfix-c")
    return()
  endif()
  set(options --quiet ${arg_OPTIONS})
  if(arg_RUNS)
    list(APPEND options --runs ${arg_RUNS})
  endif()

  # The project is configured a second time, with the wrappers as its compilers.
  # The wrappers then run the compilers of this build.
  set(folder ${CMAKE_BINARY_DIR}/wmfix)
  set(wrappers ${folder}/wrappers)
  file(MAKE_DIRECTORY ${wrappers})
  execute_process(
    COMMAND ${WMFIX_EXECUTABLE} wrappers ${wrappers}
    OUTPUT_QUIET RESULT_VARIABLE failed ERROR_VARIABLE message)
  if(failed)
    message(FATAL_ERROR "wmfix_add_check: ${message}")
  endif()
  set(compilers)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("C" IN_LIST languages)
    list(APPEND compilers -DCMAKE_C_COMPILER=${wrappers}/wmfix-cc)
  endif()
  if("CXX" IN_LIST languages)
    list(APPEND compilers -DCMAKE_CXX_COMPILER=${wrappers}/wmfix-c++)
  endif()
  set(environment
    WMFIX_REAL_CC=${CMAKE_C_COMPILER} WMFIX_REAL_CXX=${CMAKE_CXX_COMPILER})

  if(NOT TEST wmfix.configure)
    add_test(NAME wmfix.configure COMMAND
      ${CMAKE_COMMAND} -E env ${environment}
      ${CMAKE_COMMAND} -S ${CMAKE_SOURCE_DIR} -B ${folder}/build ${compilers}
      -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} -DWMFIX_EXECUTABLE=${WMFIX_EXECUTABLE})
    set_tests_properties(wmfix.configure PROPERTIES FIXTURES_SETUP wmfix.configured)
  endif()
  add_test(NAME ${arg_NAME}.build COMMAND
    ${CMAKE_COMMAND} -E env ${environment}
    ${CMAKE_COMMAND} --build ${folder}/build --target ${target})
  set_tests_properties(${arg_NAME}.build PROPERTIES
    FIXTURES_REQUIRED wmfix.configured
    FIXTURES_SETUP ${arg_NAME}.built
    RESOURCE_LOCK wmfix.build)
  file(RELATIVE_PATH inside ${CMAKE_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR})
  add_test(NAME ${arg_NAME} COMMAND
    ${WMFIX_EXECUTABLE} run ${options} -- ${folder}/build/${inside}/${target} ${arg_ARGS}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(${arg_NAME} PROPERTIES FIXTURES_REQUIRED ${arg_NAME}.built)
endfunction()

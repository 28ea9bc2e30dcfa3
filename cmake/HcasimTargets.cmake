# One way to declare a library and a test.
include(GNUInstallDirs)
include(GoogleTest)

set(HCASIM_INSTALL_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}/hcasim")
set(HCASIM_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/hcasim")

# Precompiled once for all that includes SystemC: its headers take seconds in each source otherwise.
add_library(hcasim_systemc_pch STATIC "${CMAKE_CURRENT_LIST_DIR}/precompiled.cpp")
set_target_properties(hcasim_systemc_pch PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_link_libraries(hcasim_systemc_pch PRIVATE hcasim_options hcasim_systemc)
target_precompile_headers(hcasim_systemc_pch PRIVATE <systemc> <tlm>)

# The exported name: hcasim_adapter_memory is hcasim::adapter_memory, in this tree and for find_package(hcasim).
function(hcasim_export name)
  string(REGEX REPLACE "^hcasim_" "" short "${name}")
  add_library(hcasim::${short} ALIAS ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${short})
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  if(folder MATCHES "^models/")
    set_property(GLOBAL APPEND PROPERTY HCASIM_MODEL_LIBRARIES ${name})
  else()
    set_property(GLOBAL APPEND PROPERTY HCASIM_SIM_LIBRARIES ${name})
  endif()
endfunction()

# hcasim_library(NAME [SOURCES a.cpp ...] [LINKS targets...] [SYSTEMC])
# SYSTEMC: the sources include SystemC. Without SOURCES the library is headers alone.
function(hcasim_library name)
  cmake_parse_arguments(ARG "SYSTEMC" "" "SOURCES;LINKS" ${ARGN})
  if(ARG_SOURCES)
    set(scope PUBLIC)
    add_library(${name} STATIC ${ARG_SOURCES})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(${name} PRIVATE "$<BUILD_INTERFACE:hcasim_options>")
    if(ARG_SYSTEMC)
      target_precompile_headers(${name} REUSE_FROM hcasim_systemc_pch)
    endif()
  else()
    set(scope INTERFACE)
    add_library(${name} INTERFACE)
  endif()
  if(ARG_SYSTEMC)
    list(APPEND ARG_LINKS hcasim_systemc)
  endif()
  target_link_libraries(${name} ${scope} ${ARG_LINKS})
  target_include_directories(${name} ${scope}
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:${HCASIM_INSTALL_INCLUDEDIR}>")
  hcasim_export(${name})
endfunction()

# hcasim_program(NAME): a program that people call, in bin/ of the build folder.
function(hcasim_program name)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
endfunction()

# A test spends its time in the libraries; optimising its own text would only lengthen the build.
set(HCASIM_TEST_OPTIMISATION $<IF:$<CONFIG:Debug>,-O0,-O1>)

# hcasim_test(NAME SOURCES a_test.cpp ... [LINKS targets...] [LABEL label] [TIMEOUT seconds] [SYSTEMC])
# Each test case is a process of its own: SystemC elaborates once a process. The label `full` keeps a test out of the
# default run; tools/test --full runs it.
function(hcasim_test name)
  cmake_parse_arguments(ARG "SYSTEMC" "LABEL;TIMEOUT" "SOURCES;LINKS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} hcasim_test_main hcasim_options)
  target_compile_options(${name} PRIVATE ${HCASIM_TEST_OPTIMISATION})
  if(ARG_SYSTEMC)
    target_precompile_headers(${name} REUSE_FROM hcasim_test_systemc_pch)
  else()
    target_precompile_headers(${name} REUSE_FROM hcasim_test_main)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT "ASAN_OPTIONS=detect_stack_use_after_return=0")
endfunction()

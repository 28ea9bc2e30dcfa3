# One way to declare a library and a test.
include(GNUInstallDirs)
include(GoogleTest)

set(HCASIM_INSTALL_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}/hcasim")
set(HCASIM_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/hcasim")

# Headers that take seconds in each source are precompiled once: the standard library's for models, SystemC's for what
# includes it, and those of the packages for sim/.
set(HCASIM_STANDARD_HEADERS <algorithm> <array> <cstdint> <cstring> <functional> <map> <memory> <optional> <string>
  <unordered_map> <utility> <vector>)
set(HCASIM_PACKAGE_HEADERS <systemc> <tlm> <boost/program_options.hpp> <spdlog/logger.h>)

# hcasim_precompile(NAME LINKS targets... HEADERS <header>...)
function(hcasim_precompile name)
  cmake_parse_arguments(ARG "" "" "LINKS;HEADERS" ${ARGN})
  add_library(${name} STATIC "${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp")
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PRIVATE hcasim_options ${ARG_LINKS})
  target_compile_options(${name} PRIVATE ${HCASIM_LIBRARY_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

# The definitions of the packages are part of what is precompiled: each user of the header has them.
add_library(hcasim_sim_definitions INTERFACE)
foreach(package Boost::program_options spdlog::spdlog)
  target_compile_definitions(hcasim_sim_definitions INTERFACE
    $<TARGET_PROPERTY:${package},INTERFACE_COMPILE_DEFINITIONS>)
endforeach()

# Sanitizers double the time that sim/ takes to compile optimised, and it is not where tests spend their time.
if(HCASIM_SANITIZE)
  target_compile_options(hcasim_sim_definitions INTERFACE -O0)
endif()

hcasim_precompile(hcasim_standard_pch HEADERS ${HCASIM_STANDARD_HEADERS})
hcasim_precompile(hcasim_systemc_pch LINKS hcasim_systemc HEADERS ${HCASIM_STANDARD_HEADERS} <systemc> <tlm>)
hcasim_precompile(hcasim_sim_pch LINKS hcasim_systemc hcasim_sim_definitions Boost::program_options spdlog::spdlog
  HEADERS ${HCASIM_STANDARD_HEADERS} ${HCASIM_PACKAGE_HEADERS})

# Which of them fits the sources of a library.
function(hcasim_reuse_precompiled name systemc)
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  if(folder MATCHES "^sim")
    # SystemC's headers bring static objects into each source: whoever links it needs the library.
    target_link_libraries(${name} PRIVATE "$<BUILD_INTERFACE:hcasim_sim_definitions>" hcasim_systemc)
    target_precompile_headers(${name} REUSE_FROM hcasim_sim_pch)
  elseif(systemc)
    target_precompile_headers(${name} REUSE_FROM hcasim_systemc_pch)
  else()
    target_precompile_headers(${name} REUSE_FROM hcasim_standard_pch)
  endif()
endfunction()

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
    target_compile_options(${name} PRIVATE ${HCASIM_LIBRARY_OPTIONS})
    hcasim_reuse_precompiled(${name} "${ARG_SYSTEMC}")
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
  if(HCASIM_LTO)
    target_link_options(${name} PRIVATE -flto=auto)
  endif()
endfunction()

# A test spends its time in the libraries; optimising its own text would only lengthen the build, and so would the
# checks for undefined behaviour, which take a quarter of it. Linked last: the later option counts.
add_library(hcasim_test_text INTERFACE)
target_compile_options(hcasim_test_text INTERFACE -O0)
if(HCASIM_SANITIZE MATCHES "undefined")
  target_compile_options(hcasim_test_text INTERFACE -fno-sanitize=undefined)
endif()

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
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} hcasim_test_main hcasim_options hcasim_test_text)
  if(HCASIM_LTO)
    target_link_options(${name} PRIVATE -fno-lto)
  endif()
  if(ARG_SYSTEMC)
    target_precompile_headers(${name} REUSE_FROM hcasim_test_systemc_pch)
  else()
    target_precompile_headers(${name} REUSE_FROM hcasim_test_main)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT "ASAN_OPTIONS=detect_stack_use_after_return=0")
endfunction()

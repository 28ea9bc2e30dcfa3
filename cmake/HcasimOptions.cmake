# Language level, warnings and sanitizers for every target.
option(HCASIM_BUILD_TESTS "Build the tests" ON)
option(HCASIM_BUILD_BENCH "Build tools/bench" ON)
option(HCASIM_WERROR "Warnings are errors" ON)
option(HCASIM_LTO "Optimise the programs as a whole" OFF)
option(HCASIM_COVERAGE "Instrument for coverage" OFF)
set(HCASIM_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")

# Debian's libsystemc exports only the C++17 version symbol: exactly this standard links.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_library(hcasim_options INTERFACE)
target_compile_options(hcasim_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow)
# The libraries may end up in a shared object, but nobody replaces single functions of theirs: they may be inlined.
target_compile_options(hcasim_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
target_include_directories(hcasim_options INTERFACE "${PROJECT_SOURCE_DIR}")
if(HCASIM_WERROR)
  target_compile_options(hcasim_options INTERFACE -Werror)
endif()
# The objects hold both: code for whoever links them as they are, and what the linker needs for a program as a whole.
set(HCASIM_LIBRARY_OPTIONS "")
if(HCASIM_LTO)
  set(HCASIM_LIBRARY_OPTIONS -flto -ffat-lto-objects)
endif()
if(HCASIM_SANITIZE)
  target_compile_options(hcasim_options INTERFACE
    -fsanitize=${HCASIM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(hcasim_options INTERFACE -fsanitize=${HCASIM_SANITIZE})
endif()
if(HCASIM_COVERAGE)
  target_compile_options(hcasim_options INTERFACE --coverage)
  target_link_options(hcasim_options INTERFACE --coverage)
endif()

find_program(HCASIM_CCACHE ccache)
if(HCASIM_CCACHE)
  # What ccache's manual asks for when precompiled headers are used.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${HCASIM_CCACHE}")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_compile_options(hcasim_options INTERFACE -fpch-preprocess)
  endif()
endif()

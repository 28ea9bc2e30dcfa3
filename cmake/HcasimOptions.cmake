# Language level, warnings and sanitizers for every target.
option(HCASIM_BUILD_TESTS "Build the tests" ON)
option(HCASIM_BUILD_BENCH "Build tools/bench" ON)
set(HCASIM_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")
option(HCASIM_COVERAGE "Instrument for coverage" OFF)

# Debian's libsystemc exports only the C++17 version symbol: exactly this standard links.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(HCASIM_CCACHE ccache)
if(HCASIM_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${HCASIM_CCACHE}")
endif()

add_library(hcasim_options INTERFACE)
target_compile_options(hcasim_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Werror)
target_include_directories(hcasim_options INTERFACE "${PROJECT_SOURCE_DIR}")
if(HCASIM_SANITIZE)
  target_compile_options(hcasim_options INTERFACE -fsanitize=${HCASIM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(hcasim_options INTERFACE -fsanitize=${HCASIM_SANITIZE})
endif()
if(HCASIM_COVERAGE)
  target_compile_options(hcasim_options INTERFACE --coverage)
  target_link_options(hcasim_options INTERFACE --coverage)
endif()

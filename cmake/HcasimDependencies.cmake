# Third-party packages, found once. hcasimConfig.cmake.in finds the same ones for users of the installed libraries.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET systemc>=2.3.4)
add_library(hcasim_systemc INTERFACE)
add_library(hcasim::systemc ALIAS hcasim_systemc)
set_target_properties(hcasim_systemc PROPERTIES EXPORT_NAME systemc)
target_link_libraries(hcasim_systemc INTERFACE PkgConfig::SYSTEMC)

find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(spdlog REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(Threads REQUIRED)
if(HCASIM_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(HCASIM_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()

# hcasim cosim loads a library into programs; it knows the instructions of x86-64 alone.
find_library(HCASIM_ZYDIS Zydis REQUIRED)

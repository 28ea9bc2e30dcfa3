# Third-party packages, found once.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET systemc>=2.3.4)
add_library(hcasim_systemc INTERFACE)
target_link_libraries(hcasim_systemc INTERFACE PkgConfig::SYSTEMC)
# Headers of the system: no warnings from them.
target_include_directories(hcasim_systemc SYSTEM INTERFACE ${SYSTEMC_INCLUDE_DIRS})

find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(spdlog REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(Threads REQUIRED)
if(HCASIM_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()

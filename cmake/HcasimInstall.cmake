# cmake --install: the binary, the libraries with their headers, the configs, and find_package(hcasim).
include(CMakePackageConfigHelpers)

get_property(model_libraries GLOBAL PROPERTY HCASIM_MODEL_LIBRARIES)
get_property(sim_libraries GLOBAL PROPERTY HCASIM_SIM_LIBRARIES)

add_library(hcasim_models INTERFACE)
target_link_libraries(hcasim_models INTERFACE ${model_libraries})
add_library(hcasim_sim INTERFACE)
target_link_libraries(hcasim_sim INTERFACE ${sim_libraries} hcasim_models)
foreach(all models sim)
  add_library(hcasim::${all} ALIAS hcasim_${all})
  set_target_properties(hcasim_${all} PROPERTIES EXPORT_NAME ${all})
endforeach()

install(TARGETS ${model_libraries} ${sim_libraries} hcasim_models hcasim_sim hcasim_systemc
  EXPORT hcasimTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT hcasimTargets NAMESPACE hcasim:: DESTINATION "${HCASIM_INSTALL_CMAKEDIR}")
install(TARGETS hcasim RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
# hcasim finds these beside its own folder.
install(TARGETS hcasim_verbs hcasim_vfio hcasim_inproc LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY verbs_shim/channel DESTINATION "${HCASIM_INSTALL_INCLUDEDIR}/verbs_shim" FILES_MATCHING PATTERN "*.h")
install(DIRECTORY models sim DESTINATION "${HCASIM_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(DIRECTORY configs DESTINATION "${CMAKE_INSTALL_DATADIR}/hcasim")
install(FILES LICENSE README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")

configure_package_config_file(cmake/hcasimConfig.cmake.in "${PROJECT_BINARY_DIR}/hcasimConfig.cmake"
  INSTALL_DESTINATION "${HCASIM_INSTALL_CMAKEDIR}")
# Before 1.0 a minor version may change the interfaces.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/hcasimConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/hcasimConfig.cmake" "${PROJECT_BINARY_DIR}/hcasimConfigVersion.cmake"
  DESTINATION "${HCASIM_INSTALL_CMAKEDIR}")

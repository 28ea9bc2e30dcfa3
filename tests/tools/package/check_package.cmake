# Installs the build into a fresh prefix, then builds and runs a small project that knows nothing but the prefix.
# -DBUILD=<build folder> -DSOURCE=<the small project> -DCOMPILER=<C++ compiler>
set(scratch "${BUILD}/package-test")
set(prefix "${scratch}/prefix")
file(REMOVE_RECURSE "${scratch}")

function(run)
  execute_process(COMMAND ${ARGV} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    string(REPLACE ";" " " command "${ARGV}")
    message("${output}")
    message(FATAL_ERROR "failed: ${command}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${prefix}")
run(${CMAKE_COMMAND} -S "${SOURCE}" -B "${scratch}/build" -G Ninja -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_CXX_COMPILER=${COMPILER})
run(${CMAKE_COMMAND} --build "${scratch}/build")
run("${scratch}/build/calendar_user")
run("${scratch}/build/systemc_user")

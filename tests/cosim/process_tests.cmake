# How programs and simulation live together: processes, threads, signals, time-outs, ends of all kinds.
find_package(Threads REQUIRED)
foreach(name round_cost trap_keeps manners waits attacker crew clock_cost forked)
  hcasim_verbs_program(${name})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
endforeach()
target_link_libraries(trap_keeps PRIVATE mlx5)

foreach(way segv fork dlopen threads many_threads naps unmap free leave)
  if(NOT HCASIM_SANITIZE)
    hcasim_cosim_test(manners_${way} $<TARGET_FILE:manners> ${way})
    set_tests_properties(cosim/manners_${way} PROPERTIES PASS_REGULAR_EXPRESSION "manners: ${way}|^$")
  endif()
  hcasim_cosim_test(shared_manners_${way} --shared $<TARGET_FILE:manners> ${way})
endforeach()
set_tests_properties(cosim/shared_manners_naps PROPERTIES TIMEOUT 20)
foreach(way objects memory registers device_memory load_behind_store grandchild killed outlives fresh exec)
  hcasim_cosim_test(shared_forked_${way} --shared $<TARGET_FILE:forked> ${way})
  set_tests_properties(cosim/shared_forked_${way} PROPERTIES PASS_REGULAR_EXPRESSION "forked: ${way}")
endforeach()
hcasim_cosim_test(shared_forked_virtual --shared --virtual-time $<TARGET_FILE:forked> objects)
if(NOT HCASIM_SANITIZE)
  hcasim_cosim_test(forked_alone $<TARGET_FILE:forked> registers)
  set_tests_properties(cosim/forked_alone PROPERTIES
    PASS_REGULAR_EXPRESSION "a forked child uses the device, and.*hcasim cosim --shared")
endif()
hcasim_cosim_test(shared_manners_crash --shared sh -c "$<TARGET_FILE:manners> crash\; test $? = 134")

foreach(way mutex contended condition std_condition semaphore barrier rwlock spin yield futex future join cancel signal)
  if(NOT HCASIM_SANITIZE)
    hcasim_cosim_test(crew_${way} --virtual-time $<TARGET_FILE:crew> ${way})
  endif()
  hcasim_cosim_test(shared_crew_${way} --shared $<TARGET_FILE:crew> ${way})
endforeach()
foreach(way stuck stuck_lock)
  hcasim_cosim_test(shared_crew_${way} --shared $<TARGET_FILE:crew> ${way})
  set_tests_properties(cosim/shared_crew_${way} PROPERTIES
    PASS_REGULAR_EXPRESSION "every program waits.*waits for another thread")
endforeach()
if(NOT HCASIM_SANITIZE)
  hcasim_cosim_test(crew_stuck $<TARGET_FILE:crew> stuck)
  set_tests_properties(cosim/crew_stuck PROPERTIES
    PASS_REGULAR_EXPRESSION "the program waits for ever.*waits for the end of another thread.*waits for another thread")
endif()

# Built for another processor it says so at once.
foreach(processor aarch64 i686)
  add_test(NAME cosim/configure_${processor} COMMAND ${CMAKE_COMMAND} -DCMAKE_SYSTEM_PROCESSOR=${processor}
    -P ${PROJECT_SOURCE_DIR}/cmake/HcasimProcessor.cmake)
  set_tests_properties(cosim/configure_${processor} PROPERTIES LABELS sim
    PASS_REGULAR_EXPRESSION "hcasim is for x86-64 processors, and this build is for '${processor}'")
endforeach()

# A stuck program is told so; what waits for a limited time waits in simulated time.
hcasim_cosim_test(shared_forever --shared $<TARGET_FILE:waits> forever)
hcasim_cosim_test(shared_limited_waits --shared --virtual-time $<TARGET_FILE:waits> limited)
# An interrupt that nothing caused is nothing.
hcasim_cosim_test(drill_extra_interrupt --shared --set drill.d.kind=extra_interrupt --set drill.d.vector=1
  --set drill.d.count=5 --set drill.d.at=20ms $<TARGET_FILE:loopback> event 20 64)
hcasim_cosim_test(sync_free --shared --sync free $<TARGET_FILE:loopback> poll 20 64)
hcasim_cosim_test(sync_paced --shared --sync paced:10 $<TARGET_FILE:loopback> event 20 64)
set_tests_properties(cosim/shared_forever PROPERTIES
  PASS_REGULAR_EXPRESSION "every program waits.*armed a completion queue.*0 entries not polled, 1 times armed")
if(NOT HCASIM_SANITIZE)
  hcasim_cosim_test(forever $<TARGET_FILE:waits> forever)
  set_tests_properties(cosim/forever PROPERTIES
    PASS_REGULAR_EXPRESSION "the program waits.*armed a completion queue.*0 entries not polled, 1 times armed")
  hcasim_cosim_test(limited_waits --virtual-time $<TARGET_FILE:waits> limited)
  hcasim_cosim_test(clock_cost --virtual-time $<TARGET_FILE:clock_cost> 500)
  hcasim_cosim_test(trap_keeps $<TARGET_FILE:trap_keeps>)
  hcasim_cosim_test(round_cost $<TARGET_FILE:round_cost> 500)
  set_tests_properties(cosim/round_cost PROPERTIES PASS_REGULAR_EXPRESSION "ratio [0-9]")
endif()

if(Python3_FOUND AND NOT HCASIM_SANITIZE)
  add_test(NAME cosim/repeatable_threads COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/check_repeatable 20
    $<TARGET_FILE:hcasim> cosim $<TARGET_FILE:manners> threads)
  set_tests_properties(cosim/repeatable_threads PROPERTIES LABELS sim TIMEOUT 120)
  add_test(NAME cosim/launcher COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/check_launcher
    $<TARGET_FILE:hcasim> $<TARGET_FILE:loopback> ${CMAKE_CXX_COMPILER})
  set_tests_properties(cosim/launcher PROPERTIES LABELS sim TIMEOUT 60)
  foreach(tool pytest ctest mpirun)
    add_test(NAME cosim/recipe_${tool} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/check_recipes ${tool}
      $<TARGET_FILE:hcasim> $<TARGET_FILE_DIR:loopback>)
    set_tests_properties(cosim/recipe_${tool} PROPERTIES LABELS sim TIMEOUT 120 SKIP_RETURN_CODE 77)
  endforeach()
  foreach(how "" "--shared")
    add_test(NAME cosim/stuck${how} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/check_stuck
      $<TARGET_FILE:hcasim> $<TARGET_FILE:crew> ${how})
    set_tests_properties(cosim/stuck${how} PROPERTIES LABELS sim TIMEOUT 120)
  endforeach()
  # Threads that wait for each other, in every way that there is.
  foreach(way mutex contended condition std_condition semaphore barrier rwlock spin yield futex future join)
    add_test(NAME cosim/repeatable_${way} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/check_repeatable 20
      $<TARGET_FILE:hcasim> cosim $<TARGET_FILE:crew> ${way})
    set_tests_properties(cosim/repeatable_${way} PROPERTIES LABELS sim TIMEOUT 120)
  endforeach()
  function(hcasim_serve_test name label)
    add_test(NAME cosim/serve_${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/check_serve
      ${ARGV2} $<TARGET_FILE:hcasim> $<TARGET_FILE_DIR:loopback> ${ARGV3})
    set_tests_properties(cosim/serve_${name} PROPERTIES LABELS ${label} TIMEOUT 300)
  endfunction()
  hcasim_serve_test(env sim env)
  hcasim_serve_test(drill sim drill)
  hcasim_serve_test(attack sim attack)
  hcasim_serve_test(death sim death)
  hcasim_serve_test(kill sim kill 5)
  hcasim_serve_test(kill_often full kill 100)
endif()

# A program that was built with AddressSanitizer, whose library wants to be the first.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT HCASIM_SANITIZE)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE HCASIM_LIBASAN
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  add_executable(manners_asan programs/manners.cpp)
  target_include_directories(manners_asan PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(manners_asan PRIVATE -Wall -Wextra -fsanitize=address)
  target_link_libraries(manners_asan PRIVATE ${HCASIM_IBVERBS} Threads::Threads ${CMAKE_DL_LIBS} -fsanitize=address)
  foreach(way "" "--shared")
    hcasim_cosim_test(asan${way} ${way} env LD_PRELOAD=${HCASIM_LIBASAN}:$<TARGET_FILE:hcasim_verbs>
      ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:manners_asan> threads)
    set_tests_properties(cosim/asan${way} PROPERTIES PASS_REGULAR_EXPRESSION "manners: threads")
  endforeach()
endif()

# Tools that not every machine has.
find_program(HCASIM_GDB gdb)
if(HCASIM_GDB AND NOT HCASIM_SANITIZE)
  hcasim_cosim_test(gdb ${HCASIM_GDB} -batch -ex "handle SIGSEGV nostop noprint pass" -ex "handle SIG61 nostop noprint pass"
    -ex run --args $<TARGET_FILE:loopback> poll 20 64)
  set_tests_properties(cosim/gdb PROPERTIES PASS_REGULAR_EXPRESSION "20 messages of 64 bytes.*exited normally")
else()
  message(STATUS "No gdb: the test cosim/gdb is left out")
endif()
find_program(HCASIM_UCX ucx_perftest)
if(HCASIM_UCX AND NOT HCASIM_SANITIZE)
  foreach(transport rc_v ud_v)
    add_test(NAME cosim/ucx_${transport} COMMAND $<TARGET_FILE:hcasim> cosim --delay 1 sh -c
      "UCX_MEM_MMAP_HOOK_MODE=none UCX_TLS=${transport} UCX_NET_DEVICES=mlx5_0:1 ucx_perftest -p 22300 -n 100"
      : sh -c "UCX_MEM_MMAP_HOOK_MODE=none UCX_TLS=${transport} UCX_NET_DEVICES=mlx5_0:1 ucx_perftest localhost -p 22300 -t tag_lat -n 100")
    set_tests_properties(cosim/ucx_${transport} PROPERTIES LABELS full TIMEOUT 120 RUN_SERIAL ON)
  endforeach()
endif()

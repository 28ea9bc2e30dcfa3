# Co-simulation decodes x86-64 instructions, and the preload library is written for that processor and for Linux.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  message(FATAL_ERROR "hcasim is for x86-64 processors, and this build is for '${CMAKE_SYSTEM_PROCESSOR}': "
    "build it on an x86-64 machine or in an emulated one")
endif()
if(CMAKE_SIZEOF_VOID_P AND NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  message(FATAL_ERROR "hcasim is for 64-bit programs: leave -m32 out of the compiler's options")
endif()

// What the environment says.
#pragma once

#include <stdint.h>

namespace hca::shim {

struct Settings {
  const char* runFolder = nullptr;  ///< nullptr: this program has no simulation, everything passes through
  const char* inprocLibrary = nullptr;
  const char* socket = nullptr;
  uint32_t host = 0;
  uint64_t tscKilohertz = 0;  ///< not 0: the program lives in simulated time
};

/// Read at the first call; the program may clear its environment afterwards.
const Settings& settings();

/// One line on standard error, after "hcasim: ".
void complain(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace hca::shim

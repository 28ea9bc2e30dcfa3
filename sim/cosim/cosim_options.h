// What a co-simulation leaves behind.
#pragma once

#include <string>

#include "sim/time/sync.h"

namespace hca::cosim {

/// Absolute paths; empty: not wanted.
struct OutputFiles {
  std::string result;    ///< JSON
  std::string verbsLog;  ///< see VerbsLog
};

/// What a co-simulation is to do beside running its configuration.
struct CosimOptions {
  OutputFiles files{};
  sim::Sync sync{};
};

}  // namespace hca::cosim

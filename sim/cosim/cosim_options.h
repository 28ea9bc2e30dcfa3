// What a co-simulation leaves behind.
#pragma once

#include <string>

#include "sim/observers/observer_files.h"
#include "sim/time/sync.h"

namespace hca::cosim {

/// Absolute paths; empty: not wanted.
struct OutputFiles {
  std::string result;    ///< JSON
  std::string verbsLog;  ///< see VerbsLog
  observers::ObserverFiles observers{};
};

/// What a co-simulation is to do beside running its configuration.
struct CosimOptions {
  OutputFiles files{};
  sim::Sync sync{};
  std::string folder{};  ///< of the run, whose files follow what changes at ports; empty: none
};

}  // namespace hca::cosim

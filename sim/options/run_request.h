// What the command line asks of the simulation.
#pragma once

#include <functional>
#include <iosfwd>
#include <stdexcept>

#include "sim/config/config.h"
#include "sim/observers/observer_files.h"
#include "sim/report/result.h"

namespace hca::options {

struct RunRequest {
  const config::Config& config;
  bool timing = false;                  ///< --timing: fill Result::timing
  std::ostream* events = nullptr;       ///< for [run] print = events; nullptr: don't tell
  std::ostream* completions = nullptr;  ///< for report::CompletionCsv; nullptr: not wanted
  observers::ObserverFiles files{};
  /// Call now and then with the part that is done, 0..1.
  std::function<void(double done)> progress;
};

/// Thrown if the configuration turns out to be one that can't be run: exit 2, as for every bad input.
class RunRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs a simulation. `config` of the result is filled in by the caller. Any other exception is a fault of hcasim.
using RunFunction = std::function<report::Result(const RunRequest&)>;

}  // namespace hca::options

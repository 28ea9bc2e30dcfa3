// The result of a run with guests as a file.
#pragma once

#include <iosfwd>
#include <string>

#include "sim/config/config.h"
#include "sim/cosim/cosim_result.h"
#include "sim/system/system.h"
#include "sim/vfio/function_simulation.h"

namespace hca::vm {

class Guests;

/// That of a co-simulation (cosim::CosimResult) with `guests` besides.
class VmResult {
 public:
  /// Before the simulation runs.
  VmResult(const config::Config& config, vfio::FunctionSimulation& simulation)
      : system_(simulation.system()), drills_(simulation.drills()), result_(config, simulation.system(), {}) {}

  /// Complains on `err` if the file can't be written.
  void write(const std::string& path, const Guests& guests, std::ostream& err) const;

 private:
  sim::System& system_;
  const sim::DrillBench& drills_;
  cosim::CosimResult result_;
};

}  // namespace hca::vm

// The result of a co-simulation as a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/config.h"
#include "sim/observers/async_observer.h"
#include "sim/observers/interrupt_observer.h"
#include "sim/report/result.h"
#include "sim/system/system.h"

namespace hca::cosim {

/// Of the same form as that of `hcasim run` (sim/report/result.h); it has no flows, since what programs do is theirs to
/// measure, and `forced_advances` besides.
class CosimResult {
 public:
  CosimResult(const config::Config& config, sim::System& system, std::string path);

  /// What happened up to `now`.
  [[nodiscard]] report::Result collect(Time now) const;
  /// Writes what happened up to `now`; later again, if more happens. Complains on stderr if the file can't be written.
  void write(Time now, std::uint64_t forcedAdvances, const std::vector<report::HazardResult>& hazards,
             const std::vector<report::FailureResult>& failures, const std::vector<report::DrillResult>& drills);

 private:
  void collectQueues(report::Result& result) const;

  const config::Config& config_;
  sim::System& system_;
  std::string path_;
  observers::InterruptObserver interrupts_;
  observers::AsyncObserver async_;
};

}  // namespace hca::cosim

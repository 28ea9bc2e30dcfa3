// Simulated time without a limit.
#pragma once

#include "sim/time/time_source.h"

namespace hca::sim {

/// The simulation runs as fast as it can: `hcasim run` and `hcasim replay`.
class FreeTimeSource final : public TimeSource {
 public:
  [[nodiscard]] Time limit(Time) override { return kForever; }
  void wait(Time) override {}
};

}  // namespace hca::sim

// How far simulated time may go.
#pragma once

#include "models/base/units.h"

namespace hca::sim {

/// Decides, before each stretch of simulation, how far it may run. `run` and `replay` use the free source;
/// co-simulation brings sources that follow program threads (lockstep) or wall time (paced).
class TimeSource {
 public:
  virtual ~TimeSource() = default;
  /// The latest time to which the simulation may run now; `now` if it must wait, kForever without a limit.
  [[nodiscard]] virtual Time limit(Time now) = 0;
  /// Blocks the calling thread until `limit` may have grown. Never called by a source whose limit is kForever.
  virtual void wait(Time now) = 0;
};

}  // namespace hca::sim

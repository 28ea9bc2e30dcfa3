// Simulated time that follows wall time.
#pragma once

#include <chrono>
#include <functional>

#include "sim/time/time_source.h"

namespace hca::sim {

/// At most `scale` times wall time since the first question. The wall clock limits how far the simulation may go, it
/// never enters a result.
class PacedTimeSource final : public TimeSource {
 public:
  /// What the source needs of the machine; a test brings its own.
  struct Clock {
    std::function<std::chrono::nanoseconds()> now;  ///< monotonic
    std::function<void(std::chrono::nanoseconds span)> sleepFor;
  };
  /// Waits in steps of `grain` of wall time.
  explicit PacedTimeSource(double scale, std::chrono::nanoseconds grain = std::chrono::microseconds(100));
  PacedTimeSource(double scale, std::chrono::nanoseconds grain, Clock clock);

  [[nodiscard]] Time limit(Time now) override;
  void wait(Time now) override;

 private:
  double scale_;
  std::chrono::nanoseconds grain_;
  Clock clock_;
  bool started_ = false;
  std::chrono::nanoseconds wallStart_{};
  Time simulatedStart_{};
};

}  // namespace hca::sim

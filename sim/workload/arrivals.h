// When the messages of a flow are due.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sim/workload/flow_config.h"
#include "sim/workload/random_draw.h"

namespace hca::sim {

/// The moments at which an open-loop client wants to post, whatever became of earlier messages: one after the other,
/// from `start` on. Precondition: `arrival` is not closed and `rate` is not 0.
class Arrivals {
 public:
  Arrivals(const FlowConfig& config, std::uint64_t seed)
      : kind_(config.arrival), seed_(seed), burst_(config.arrival == ArrivalKind::kBurst ? config.burst_size : 1) {
    constexpr double kPicosecondsPerSecond = 1e12;
    gap_ = kPicosecondsPerSecond / static_cast<double>(config.rate) * burst_;
  }

  void start(Time when) {
    start_ = when;
    if (kind_ == ArrivalKind::kPoisson) pass();
  }
  /// When message `count()` is due.
  [[nodiscard]] Time next() const { return start_ + picoseconds(std::llround(offset_)); }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  void advance() {
    ++count_;
    if (count_ % burst_ == 0) pass();
  }

 private:
  // Fixed gaps are multiplied, not added up: an error of rounding doesn't grow.
  void pass() {
    if (kind_ == ArrivalKind::kPoisson) {
      offset_ += gap_ * exponentialOf(mixedBits(mixedBits(seed_) + count_));
    } else {
      offset_ = gap_ * static_cast<double>(count_ / burst_);
    }
  }

  ArrivalKind kind_;
  std::uint64_t seed_;
  std::uint32_t burst_;
  double gap_ = 0;     // picoseconds
  double offset_ = 0;  // from the start to the next, picoseconds
  std::uint64_t count_ = 0;
  Time start_{};
};

}  // namespace hca::sim

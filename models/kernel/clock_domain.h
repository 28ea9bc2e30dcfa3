// Cycles of one clock, converted to time without drift.
#pragma once

#include "models/base/units.h"

namespace hca::kernel {

/// A clock of a whole number of hertz. Edges are computed from their number, so that a period that is no whole number
/// of picoseconds (1.2 GHz) doesn't drift; the usual ones are spared the division of 128 bits.
class ClockDomain {
 public:
  constexpr explicit ClockDomain(Hertz frequency)
      : hertz_(frequency.count()), wholePeriod_(kPerSecond % hertz_ == 0 ? kPerSecond / hertz_ : 0) {}

  /// Span of `n` cycles, rounded up to a picosecond.
  [[nodiscard]] constexpr Time span(Cycles n) const {
    if (wholePeriod_ != 0) return Time(n.count() * wholePeriod_);
    const auto scaled = static_cast<WideInteger>(n.count()) * kPerSecond;
    return Time(static_cast<std::int64_t>((scaled + hertz_ - 1) / hertz_));
  }
  /// Number of edges at or before `when` (edge 0 is at time 0).
  [[nodiscard]] constexpr std::uint64_t edgesUntil(Time when) const {
    if (wholePeriod_ != 0) return static_cast<std::uint64_t>(when.count() / wholePeriod_);
    return static_cast<std::uint64_t>(static_cast<WideInteger>(when.count()) * hertz_ / kPerSecond);
  }
  /// First edge at or after `when`.
  [[nodiscard]] constexpr Time nextEdge(Time when) const {
    const auto numerator = static_cast<WideInteger>(when.count()) * hertz_;
    const auto edge = static_cast<std::int64_t>((numerator + kPerSecond - 1) / kPerSecond);
    return later(when, span(Cycles(edge)));
  }
  [[nodiscard]] constexpr Hertz frequency() const { return Hertz(hertz_); }

 private:
  static constexpr std::int64_t kPerSecond = 1'000'000'000'000;
  std::int64_t hertz_;
  std::int64_t wholePeriod_;  // picoseconds; 0: not a whole number
};

}  // namespace hca::kernel

// What the adapter shows of time: in its registers and in completion entries.
#pragma once

#include <cstdint>

#include "models/base/units.h"
#include "models/kernel/clock_domain.h"

namespace hca::adapter {

/// Two counters that start with the simulation: a free-running one, and the real time since 1970.
class AdapterClock {
 public:
  /// No time stamp has more bits: the top one is zero (DPDK doc/guides/nics/mlx5.rst, scheduling limitations).
  static constexpr unsigned kMostBits = 63;

  struct Settings {
    kernel::ClockDomain frequency{Hertz(156'250'000)};
    unsigned bits = kMostBits;      ///< of the free-running counter, which then starts at 0 again
    std::uint64_t firstTick = 0;    ///< what it shows at simulated time 0
    std::uint64_t firstSecond = 0;  ///< what the real time is at simulated time 0
    bool flatRealTime = false;      ///< real-time stamps are nanoseconds in one number
  };
  explicit AdapterClock(const Settings& settings)
      : settings_(settings), mask_((std::uint64_t{1} << settings.bits) - 1) {}
  explicit AdapterClock(kernel::ClockDomain frequency) : AdapterClock(Settings{frequency}) {}

  [[nodiscard]] Hertz frequency() const { return settings_.frequency.frequency(); }
  /// The most that the free-running counter shows.
  [[nodiscard]] std::uint64_t mask() const { return mask_; }
  /// The free-running counter.
  [[nodiscard]] std::uint64_t ticks(Time now) const {
    return (settings_.firstTick + settings_.frequency.edgesUntil(now)) & mask_;
  }
  /// Seconds since 1970 in [62:32], nanoseconds in [31:0] (DPDK drivers/net/mlx5/mlx5_tx.h packs a time so). 31 bits of
  /// seconds end on 2038-01-19, and 1970 begins again.
  [[nodiscard]] std::uint64_t realTime(Time now) const {
    return (seconds(now) & kSecondsMask) << 32 | nanosecondsOf(now);
  }
  /// The same as completion entries have it: as above, or flat if the settings say so. libmlx5 takes the word for
  /// nanoseconds (rdma-core providers/mlx5/cq.c, mlx5_cq_read_wc_completion_wallclock_ns of real-time queues), so one
  /// of the two readings of the format must be wrong.
  [[nodiscard]] std::uint64_t realTimeStamp(Time now) const {
    if (!settings_.flatRealTime) return realTime(now);
    return (seconds(now) * kNanosecondsPerSecond + nanosecondsOf(now)) & ~(std::uint64_t{1} << kMostBits);
  }

 private:
  static constexpr std::uint64_t kSecondsMask = 0x7FFFFFFF;
  static constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
  static constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;

  [[nodiscard]] std::uint64_t seconds(Time now) const {
    return settings_.firstSecond + static_cast<std::uint64_t>(now.count() / kPicosecondsPerSecond);
  }
  [[nodiscard]] static std::uint64_t nanosecondsOf(Time now) {
    return static_cast<std::uint64_t>(now.count() % kPicosecondsPerSecond / nanoseconds(1).count());
  }

  Settings settings_;
  std::uint64_t mask_;
};

}  // namespace hca::adapter

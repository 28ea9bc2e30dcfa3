// The driver's looks at its adapter's health.
#pragma once

#include <cstdint>
#include <functional>

#include "models/kernel/timer.h"
#include "sim/driver/driver_environment.h"
#include "sim/driver/driver_log.h"

namespace hca::driver {

/// Reads health buffer, interface state and health counter every now and then, as the stock driver does (Linux
/// drivers/net/ethernet/mellanox/mlx5/core/health.c, poll_health). That one never stops; this one looks only for a
/// while after it was woken, so that a simulation in which nothing else is left to happen is over.
class HealthWatch {
 public:
  /// `onFatal`: called once, when a sensor says that only a reset helps. Until `reset` nothing is looked at then.
  HealthWatch(DriverEnvironment& environment, const DriverLog& log, Time period, std::function<void()> onFatal);

  /// Looks kLooks times from now on.
  void wake();
  /// Of a device that is brought up anew.
  void reset();

 private:
  static constexpr unsigned kLooks = 8;
  static constexpr unsigned kMostMisses = 3;  // MAX_MISSES

  void look();
  void onVersion(std::uint32_t version);
  void onInterface(std::uint32_t queueLow);
  void onHealthWords(std::uint32_t severity, std::uint32_t syndrome);
  void onCounter(std::uint32_t counter);
  void fail(unsigned sensor);

  DriverEnvironment& environment_;
  const DriverLog& log_;
  Time period_;
  std::function<void()> onFatal_;
  kernel::Timer<HealthWatch> timer_;
  unsigned looksLeft_ = 0;
  bool isLooking_ = false;  // reads are under way
  bool hasFailed_ = false;
  std::uint32_t counter_ = 0;
  unsigned misses_ = 0;
};

}  // namespace hca::driver

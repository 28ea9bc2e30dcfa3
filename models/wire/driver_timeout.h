// Times that an adapter tells its driver to wait.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/base/units.h"

namespace hca::wire {

/// A time in milliseconds, seconds, minutes or hours. Linux include/linux/mlx5/mlx5_ifc.h,
/// mlx5_ifc_default_timeout_bits, and .../mlx5/core/lib/tout.c.
struct DriverTimeout {
  static constexpr std::uint32_t kMost = 0xFFFFF;  ///< milliseconds: 17 minutes
  /// Multiplier [31:29], which is always that for milliseconds, and value [19:0]; rounded up, but never above kMost.
  [[nodiscard]] static constexpr std::uint32_t word(Time time) {
    const std::int64_t unit = milliseconds(1).count();
    return static_cast<std::uint32_t>(std::min<std::int64_t>((time.count() + unit - 1) / unit, kMost));
  }
};

}  // namespace hca::wire

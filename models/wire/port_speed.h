// How an InfiniBand port tells its speed.
#pragma once

#include <cstdint>

#include "models/base/units.h"

namespace hca::wire {

struct PortSpeed {
  std::uint16_t code;      ///< as PTYS and ibv_port_attr.active_speed have it (InfiniBand volume 1, 14.2.5.6,
                           ///< LinkSpeedActive and LinkSpeedExtActive)
  std::uint32_t gigabits;  ///< a second, over four lanes, the line code taken off
  const char* name;
};

/// The slowest standard speed that carries `rate`, which is without the line code, over four lanes; NDR also for what
/// is faster.
[[nodiscard]] constexpr PortSpeed portSpeed(BitsPerSecond rate) {
  constexpr PortSpeed kSpeeds[] = {{1, 8, "SDR"},   {2, 16, "DDR"},   {4, 32, "QDR"},
                                   {16, 56, "FDR"}, {32, 100, "EDR"}, {64, 200, "HDR"}};
  constexpr std::int64_t kGiga = 1'000'000'000;
  for (const PortSpeed& speed : kSpeeds) {
    if (rate.count() <= speed.gigabits * kGiga) return speed;
  }
  return {128, 400, "NDR"};
}

}  // namespace hca::wire

// How an InfiniBand port tells its speed.
#pragma once

#include <cstdint>

#include "models/base/units.h"

namespace hca::wire {

/// The slowest standard speed that carries `rate` over four lanes, as PTYS and ibv_port_attr.active_speed code it
/// (InfiniBand volume 1, 14.2.5.6, LinkSpeedActive and LinkSpeedExtActive): 1 SDR, 2 DDR, 4 QDR, 16 FDR, 32 EDR, 64
/// HDR, 128 NDR; 128 also for what is faster. `rate` is without the line code.
[[nodiscard]] constexpr std::uint16_t portSpeedCode(BitsPerSecond rate) {
  struct Speed {
    std::int64_t gigabits;
    std::uint16_t code;
  };
  constexpr Speed kSpeeds[] = {{8, 1}, {16, 2}, {32, 4}, {56, 16}, {100, 32}, {200, 64}};
  constexpr std::int64_t kGiga = 1'000'000'000;
  for (const Speed& speed : kSpeeds) {
    if (rate.count() <= speed.gigabits * kGiga) return speed.code;
  }
  return 128;
}

}  // namespace hca::wire

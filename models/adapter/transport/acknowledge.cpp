#include "models/adapter/transport/acknowledge.h"

#include <array>

namespace hca::adapter {

Time rnrDelay(std::uint8_t code) {
  // In units of 10 us.
  static constexpr std::array<std::int64_t, 32> kTable = {
      65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
      256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return microseconds(10) * kTable[code & 0x1F];
}

Time ackTimeout(std::uint8_t code) {
  if (code == 0) return kForever;
  return nanoseconds(4096) * (std::int64_t{1} << (code & 0x1F));
}

}  // namespace hca::adapter

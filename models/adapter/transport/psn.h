// Packet sequence numbers: 24 bits that wrap.
#pragma once

#include <cstdint>

namespace hca::adapter {

constexpr std::uint32_t kPsnMask = 0xFFFFFF;

constexpr std::uint32_t psnAdd(std::uint32_t psn, std::uint32_t n) { return (psn + n) & kPsnMask; }

/// How far `a` lies ahead of `b`: -2^23 .. 2^23-1 (InfiniBand volume 1, 9.7.2: half of the space is "before").
constexpr std::int32_t psnDistance(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>((a - b) << 8) >> 8;
}

}  // namespace hca::adapter

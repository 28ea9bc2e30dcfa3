// Sizes of queues are powers of two.
#pragma once

#include <cstdint>

namespace hca::cosim {

/// The binary logarithm, rounded up.
constexpr std::uint8_t logOf(std::uint64_t value) {
  std::uint8_t log = 0;
  while ((std::uint64_t{1} << log) < value) ++log;
  return log;
}

/// Precondition: at most 2^63.
constexpr std::uint64_t powerOfTwoAtLeast(std::uint64_t value) { return std::uint64_t{1} << logOf(value); }

constexpr bool isPowerOfTwo(std::uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

}  // namespace hca::cosim

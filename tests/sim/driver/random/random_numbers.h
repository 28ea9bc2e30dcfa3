// A small generator whose results are the same everywhere.
#pragma once

#include <cstdint>

#include "models/base/mixed_bits.h"

namespace hca::test {

/// Eight bytes of state, so that each step of a script can have one of its own.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : state_(mixedBits(seed)) {}

  std::uint64_t next() { return mixedBits(state_++); }
  /// 0 to bound - 1
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>((next() >> 32) * bound >> 32); }
  /// Both ends included.
  std::uint32_t between(std::uint32_t low, std::uint32_t high) { return low + below(high - low + 1); }
  bool percent(std::uint32_t chance) { return below(100) < chance; }

 private:
  std::uint64_t state_;
};

}  // namespace hca::test

// Numbers of a distribution from random bits.
#pragma once

#include <cmath>
#include <cstdint>

#include "models/base/mixed_bits.h"

namespace hca::sim {

/// Uniform over the open interval from 0 to 1.
[[nodiscard]] inline double uniformOf(std::uint64_t bits) {
  constexpr double kStep = 1.0 / 9007199254740992.0;  // 2^-53
  return (static_cast<double>(bits >> 11) + 0.5) * kStep;
}

/// Exponential of mean 1.
[[nodiscard]] inline double exponentialOf(std::uint64_t bits) { return -std::log(uniformOf(bits)); }

/// Normal of mean 0 and deviation 1 (Box and Muller).
[[nodiscard]] inline double normalOf(std::uint64_t bits) {
  constexpr double kTwoPi = 6.283185307179586;
  return std::sqrt(2 * exponentialOf(bits)) * std::cos(kTwoPi * uniformOf(mixedBits(bits)));
}

}  // namespace hca::sim

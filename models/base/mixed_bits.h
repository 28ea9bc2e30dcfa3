// A fixed permutation of 64 bits that looks random.
#pragma once

#include <cstdint>

namespace hca {

/// The output function of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014): of
/// consecutive numbers it makes a sequence that passes for random.
constexpr std::uint64_t mixedBits(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return z ^ z >> 31;
}

}  // namespace hca

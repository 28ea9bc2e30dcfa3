// Payload whose every byte can be checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hca::sim {

/// Content of message `seed` of a flow: bytes that depend on the seed and on their place, so that a lost, repeated or
/// misplaced piece shows.
void fillPattern(std::uint8_t* to, std::size_t length, std::uint64_t seed);
/// Without looking at the first `skipped` bytes, at most 4096.
[[nodiscard]] bool matchesPattern(const std::uint8_t* bytes, std::size_t length, std::uint64_t seed,
                                  std::size_t skipped = 0);

/// The 8 bytes at `bytes` as the number that an atomic leaves there.
[[nodiscard]] inline std::uint64_t wordAt(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

}  // namespace hca::sim

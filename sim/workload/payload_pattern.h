// Payload whose every byte can be checked.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hca::sim {

/// Content of message `seed` of a flow: bytes that depend on the seed and on their place, so that a lost, repeated or
/// misplaced piece shows.
void fillPattern(std::uint8_t* to, std::size_t length, std::uint64_t seed);
/// Without looking at the first `skipped` bytes, at most 4096.
[[nodiscard]] bool matchesPattern(const std::uint8_t* bytes, std::size_t length, std::uint64_t seed,
                                  std::size_t skipped = 0);

}  // namespace hca::sim

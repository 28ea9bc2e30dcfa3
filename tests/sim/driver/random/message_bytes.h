// What the messages of the random driver hold.
#pragma once

#include <cstdint>

namespace hca::test {

/// Bytes at the beginning of a message that say its number.
constexpr std::uint32_t kNamedSize = 8;

/// Byte `index` of message `id`: its number, then something that depends on both.
inline std::uint8_t patternByte(std::uint64_t id, std::uint32_t index) {
  if (index < kNamedSize) return static_cast<std::uint8_t>(id >> (8 * index));
  return static_cast<std::uint8_t>(id * 131 + index * 7 + (index >> 8));
}
inline void fill(std::uint8_t* bytes, std::uint64_t id, std::uint32_t length) {
  for (std::uint32_t i = 0; i < length; ++i) bytes[i] = patternByte(id, i);
}

}  // namespace hca::test

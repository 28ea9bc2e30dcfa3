#include "models/network/crc.h"

#include <array>

namespace hca::network {
namespace {

/// Remainders of all bytes for a polynomial given with its bits reversed.
template <class Word>
constexpr std::array<Word, 256> makeTable(Word reversedPolynomial) {
  std::array<Word, 256> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    auto remainder = static_cast<Word>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      const bool carry = (remainder & 1) != 0;
      remainder = static_cast<Word>(remainder >> 1);
      if (carry) remainder = static_cast<Word>(remainder ^ reversedPolynomial);
    }
    table[byte] = remainder;
  }
  return table;
}

constexpr auto kInvariantTable = makeTable<std::uint32_t>(0xEDB88320);  // 0x04C11DB7 reversed
constexpr auto kVariantTable = makeTable<std::uint16_t>(0xD008);        // 0x100B reversed

}  // namespace

void InvariantCrc::add(ByteView bytes) {
  for (const std::uint8_t byte : bytes) state_ = kInvariantTable[(state_ ^ byte) & 0xFF] ^ (state_ >> 8);
}

void VariantCrc::add(ByteView bytes) {
  for (const std::uint8_t byte : bytes) {
    state_ = static_cast<std::uint16_t>(kVariantTable[(state_ ^ byte) & 0xFF] ^ (state_ >> 8));
  }
}

}  // namespace hca::network

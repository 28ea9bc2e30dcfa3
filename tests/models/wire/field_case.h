// One named field of a context with the position that the public headers give it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "models/wire/context_field.h"

namespace hca::wire {

struct FieldCase {
  const char* name;
  unsigned bitOffset;  ///< from the most significant bit of the first byte
  unsigned width;
  void (*set)(MutableByteView bytes, std::uint64_t value);
  std::uint64_t (*get)(ByteView bytes);
};

template <class Accessor>
FieldCase field(const char* name, unsigned bitOffset, unsigned width) {
  using Value = decltype(Accessor::get(ByteView()));
  return {name, bitOffset, width,
          [](MutableByteView bytes, std::uint64_t value) { Accessor::set(bytes, static_cast<Value>(value)); },
          [](ByteView bytes) { return static_cast<std::uint64_t>(Accessor::get(bytes)); }};
}

/// Numbers bits as the public headers do: bit 0 is the most significant one of byte 0.
inline bool bitAt(const std::vector<std::uint8_t>& bytes, unsigned index) {
  return ((bytes[index / 8] >> (7 - index % 8)) & 1) != 0;
}

/// Setting the field's highest value sets its bits and no others; clearing it in all ones clears its bits and no
/// others; a value with one bit at either end comes back.
inline void expectField(const FieldCase& field) {
  constexpr std::size_t kRoom = 0x400;
  const std::uint64_t highest = field.width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << field.width) - 1;
  std::vector<std::uint8_t> zeros(kRoom, 0x00);
  std::vector<std::uint8_t> ones(kRoom, 0xFF);
  field.set(zeros, highest);
  field.set(ones, 0);
  for (unsigned bit = 0; bit < kRoom * 8; ++bit) {
    const bool inside = bit >= field.bitOffset && bit < field.bitOffset + field.width;
    ASSERT_EQ(bitAt(zeros, bit), inside) << field.name << " bit " << bit;
    ASSERT_EQ(bitAt(ones, bit), !inside) << field.name << " bit " << bit;
  }
  EXPECT_EQ(field.get(zeros), highest);
  EXPECT_EQ(field.get(ones), 0U);
  field.set(zeros, 1);
  EXPECT_TRUE(bitAt(zeros, field.bitOffset + field.width - 1)) << "least significant bit last";
  EXPECT_EQ(field.get(zeros), 1U);
}

}  // namespace hca::wire

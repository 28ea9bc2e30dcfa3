#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "models/base/byte_view.h"
#include "models/wire/endian.h"
#include "models/wire/field.h"

namespace hca::wire {
namespace {

template <class T>
std::vector<std::uint8_t> stored(const T& value) {
  const ByteView view = bytesOf(value);
  return {view.begin(), view.end()};
}

TEST(BigEndian, StoresTheMostSignificantByteFirst) {
  EXPECT_EQ(stored(Be16(0x0102)), (std::vector<std::uint8_t>{1, 2}));
  EXPECT_EQ(stored(Be24(0x010203)), (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(stored(Be32(0x01020304)), (std::vector<std::uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(stored(Be64(0x0102030405060708)), (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(stored(Be64Unaligned(0x0102030405060708)), (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(BigEndian, ComesBackInHostOrder) {
  static_assert(Be32(0xDEADBEEF).host() == 0xDEADBEEF);
  static_assert(Be24(0x00ABCDEF).host() == 0xABCDEF);
  static_assert(Be24(0xFFABCDEF).host() == 0xABCDEF, "the top byte is dropped");
  EXPECT_EQ(Be64Unaligned(0xFEDCBA9876543210).host(), 0xFEDCBA9876543210U);
}

TEST(BigEndian, LoadsAndStoresAtOddAddresses) {
  std::uint8_t bytes[9] = {};
  storeBigEndian<std::uint32_t>(bytes + 1, 0xA1B2C3D4);
  EXPECT_EQ(bytes[0], 0);
  EXPECT_EQ(bytes[1], 0xA1);
  EXPECT_EQ(bytes[4], 0xD4);
  EXPECT_EQ(bytes[5], 0);
  EXPECT_EQ(loadBigEndian<std::uint32_t>(bytes + 1), 0xA1B2C3D4U);
  EXPECT_EQ(loadBigEndian<std::uint16_t>(bytes + 3), 0xC3D4U);
}

enum class Colour : std::uint8_t { kRed = 1, kBlue = 5 };

TEST(Field, TakesItsBitsAndNoOthers) {
  using Middle = Field<std::uint32_t, 11, 8>;
  static_assert(Middle::kMask == 0xF00 && Middle::kMax == 0xF);
  static_assert(Middle::get(0x12345678U) == 6);
  std::uint32_t word = 0xFFFFFFFF;
  Middle::set(word, 0);
  EXPECT_EQ(word, 0xFFFFF0FFU);
  word = 0;
  Middle::set(word, 0xF);
  EXPECT_EQ(word, 0xF00U);
}

TEST(Field, CoversAWholeWordAndASingleBit) {
  using Whole = Field<std::uint32_t, 31, 0>;
  using Top = Field<std::uint32_t, 31, 31, bool>;
  static_assert(Whole::kMask == 0xFFFFFFFF && Top::kMask == 0x80000000);
  EXPECT_EQ(Whole::get(0xCAFEF00DU), 0xCAFEF00DU);
  EXPECT_TRUE(Top::get(0x80000000U));
  EXPECT_FALSE(Top::get(0x7FFFFFFFU));
}

TEST(Field, HoldsEnumerationsInBigEndianWords) {
  using Shade = Field<std::uint32_t, 30, 28, Colour>;
  Be32 word(0x8FFFFFFF);
  Shade::set(word, Colour::kBlue);
  EXPECT_EQ(word.host(), 0xDFFFFFFFU);
  EXPECT_EQ(Shade::get(word), Colour::kBlue);
}

}  // namespace
}  // namespace hca::wire

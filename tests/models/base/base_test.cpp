// Units, identifiers and views.
#include <gtest/gtest.h>

#include "models/base/byte_view.h"
#include "models/base/ids.h"
#include "models/base/units.h"

namespace hca {
namespace {

TEST(Units, TransferTimeRoundsUp) {
  EXPECT_EQ(transferTime(Bytes(1), BitsPerSecond(8'000'000'000)), nanoseconds(1));
  EXPECT_EQ(transferTime(Bytes(1), BitsPerSecond(100'000'000'000)), picoseconds(80));
  EXPECT_EQ(transferTime(Bytes(1), BitsPerSecond(7'000'000'000'000)), picoseconds(2)) << "1.14 ps";
  EXPECT_EQ(transferTime(Bytes(0), BitsPerSecond(1)), picoseconds(0));
}

TEST(Units, TransferTimeAgreesWithWideArithmeticWhereItSwitches) {
  for (const std::int64_t size : {1'152'920LL, 1'152'921LL, 576'459LL, 576'460LL, 576'461LL, 1LL << 40}) {
    const WideInteger scaled = static_cast<WideInteger>(size) * 8'000'000'000'000;
    const auto expected = static_cast<std::int64_t>((scaled + 99'999'999'999) / 100'000'000'000);
    EXPECT_EQ(transferTime(Bytes(size), BitsPerSecond(100'000'000'000)).count(), expected) << size;
  }
}

TEST(Units, LaterAndEarlier) {
  EXPECT_EQ(later(nanoseconds(1), nanoseconds(2)), nanoseconds(2));
  EXPECT_EQ(earlier(nanoseconds(1), kForever), nanoseconds(1));
}

TEST(Ids, CompareAndOrderByValue) {
  EXPECT_EQ(QpNumber(5), QpNumber(5));
  EXPECT_NE(QpNumber(5), QpNumber(6));
  EXPECT_LT(BusAddress(1), advance(BusAddress(1), 1));
}

TEST(ByteView, StructuresRoundTripThroughBytes) {
  const std::uint64_t value = 0x1122334455667788;
  EXPECT_EQ(structFrom<std::uint64_t>(bytesOf(value)), value);
  EXPECT_EQ(bytesOf(value).subview(7, 1)[0], 0x11);
}

}  // namespace
}  // namespace hca

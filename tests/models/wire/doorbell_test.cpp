#include "models/wire/doorbell.h"

#include <gtest/gtest.h>

#include "models/base/byte_view.h"
#include "models/wire/mmio_map.h"
#include "tests/support/hex_bytes.h"

namespace hca::wire {
namespace {

TEST(CqArm, MakesTheWordOfTheDrivers) {
  // sn << 28 | cmd | ci in the high word, cqn in the low one; cmd is 1 << 24 for solicited only.
  CqArm arm;
  arm.cq = 0x000405;
  arm.consumerIndex = 0x123456;
  arm.sequence = 3;
  arm.solicitedOnly = true;
  EXPECT_EQ(arm.word(), 0x3112345600000405U);
  EXPECT_EQ(arm.command(), 0x31123456U);
  arm.solicitedOnly = false;
  arm.sequence = 0;
  EXPECT_EQ(arm.word(), 0x0012345600000405U);
}

TEST(CqArm, ReadsTheRegisterAndIgnoresOtherBits) {
  const CqArm arm = CqArm::fromWord(0xE1FFFFFFFF00000A);
  EXPECT_EQ(arm.cq, 0xAU);
  EXPECT_EQ(arm.consumerIndex, 0xFFFFFFU);
  EXPECT_EQ(arm.sequence, 2);
  EXPECT_TRUE(arm.solicitedOnly);
  EXPECT_EQ(CqArm::fromWord(arm.word()).word(), arm.word());
}

TEST(CqArm, CutsIndicesTo24Bits) {
  CqArm arm;
  arm.consumerIndex = 0x1000001;
  arm.sequence = 5;
  EXPECT_EQ(arm.word(), 0x1000000100000000U);
}

TEST(EqDoorbell, HasTheQueueOnTop) {
  EqDoorbell doorbell;
  doorbell.eq = 0x0C;
  doorbell.consumerIndex = 0x00FF01;
  EXPECT_EQ(doorbell.word(), 0x0C00FF01U);
  const EqDoorbell read = EqDoorbell::fromWord(0xFE800000);
  EXPECT_EQ(read.eq, 0xFE);
  EXPECT_EQ(read.consumerIndex, 0x800000U);
}

TEST(DoorbellRecords, LieAsTheDriversWriteThem) {
  const auto cq = structFrom<CqDoorbellRecord>(test::hexBytes("00 12 34 56 31 12 34 56"));
  EXPECT_EQ(CqDoorbellRecord::Index::get(cq.consumerIndex), 0x123456U);
  EXPECT_EQ(CqArmCommand::Index::get(cq.arm), 0x123456U);
  EXPECT_EQ(CqArmCommand::Sequence::get(cq.arm), 3U);
  EXPECT_TRUE(CqArmCommand::SolicitedOnly::get(cq.arm));
  const auto qp = structFrom<QpDoorbellRecord>(test::hexBytes("00 00 00 10 00 00 ff ff"));
  EXPECT_EQ(QpDoorbellRecord::Counter::get(qp.receiveCounter), 16U);
  EXPECT_EQ(QpDoorbellRecord::Counter::get(qp.sendCounter), 0xFFFFU);
}

TEST(IndexDistance, IsSignedAcrossTheWrap) {
  EXPECT_EQ(indexDistance24(5, 3), 2);
  EXPECT_EQ(indexDistance24(3, 5), -2);
  EXPECT_EQ(indexDistance24(0, 0xFFFFFF), 1);
  EXPECT_EQ(indexDistance24(0xFFFFFF, 0), -1);
  EXPECT_EQ(indexDistance24(0x7FFFFF, 0), 0x7FFFFF);
  EXPECT_EQ(indexDistance24(0x800000, 0), -0x800000);
  EXPECT_EQ(indexDistance24(7, 7), 0);
}

TEST(MmioMap, KeepsUarPagesClearOfEverythingElse) {
  EXPECT_FALSE(isUarOffset(InitSegment::kHealthCounter));
  EXPECT_FALSE(isUarOffset(kMsixTableOffset));
  EXPECT_FALSE(isUarOffset(kMsixPendingOffset + kMaxMsixVectors / 8 - 1));
  EXPECT_FALSE(isUarOffset(uarOffset(kFirstUarIndex) - 1));
  EXPECT_TRUE(isUarOffset(uarOffset(kFirstUarIndex)));
  EXPECT_TRUE(isUarOffset(kDeviceMemoryOffset - 1));
  EXPECT_FALSE(isUarOffset(kDeviceMemoryOffset));
  EXPECT_FALSE(isDeviceMemoryOffset(kDeviceMemoryOffset - 1));
  EXPECT_TRUE(isDeviceMemoryOffset(kDeviceMemoryOffset));
  EXPECT_TRUE(isDeviceMemoryOffset(kBar0Size - 1));
  EXPECT_FALSE(isDeviceMemoryOffset(kBar0Size));
}

TEST(MmioMap, SplitsAnOffsetIntoPageAndRegister) {
  const std::uint64_t offset = uarOffset(70) + UarPage::kCqArm;
  EXPECT_EQ(offset, 0x46020U);
  EXPECT_EQ(uarIndexOf(offset), 70U);
  EXPECT_EQ(offsetInUar(offset), 0x20U);
  EXPECT_EQ(UarPage::blueFlame(0, 0), 0x800U);
  EXPECT_EQ(UarPage::blueFlame(0, 1), 0x900U);
  EXPECT_EQ(UarPage::blueFlame(3, 1), 0xF00U);
}

}  // namespace
}  // namespace hca::wire

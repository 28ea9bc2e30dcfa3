#include "tests/models/adapter/command/command_fixture.h"

namespace hca::adapter::test {
namespace {

using Map = wire::InitSegment;

class InitSegmentTest : public CommandFixture {};

TEST_F(InitSegmentTest, TellsVersionsAndQueueShape) {
  EXPECT_EQ(readRegister(0x00), (35U << 16) | 16U);
  EXPECT_EQ(readRegister(0x04) >> 16, 5U);
  EXPECT_EQ(readRegister(0x04) & 0xFFFF, 1000U);
  EXPECT_EQ(readRegister(0x14) & 0xFFU, 0x56U) << "32 slots of 64 bytes";
}

TEST_F(InitSegmentTest, QueueAddressReadsBack) {
  writeRegister(Map::kCommandQueueHigh, 0x12345678);
  writeRegister(Map::kCommandQueueLow, 0x9ABCD000);
  EXPECT_EQ(readRegister(0x10), 0x12345678U);
  EXPECT_EQ(readRegister(0x14), 0x9ABCD056U);
}

TEST_F(InitSegmentTest, QueueAddressTakesOneEightByteWrite) {
  const std::uint8_t bytes[8] = {0, 0, 0, 1, 0x23, 0x45, 0x60, 0};
  processor_.writeRegister(0x10, {bytes, sizeof bytes});
  EXPECT_EQ(readRegister(0x10), 1U);
  EXPECT_EQ(readRegister(0x14) & 0xFFFFF000, 0x23456000U);
}

TEST_F(InitSegmentTest, InitializingUntilTheBootTimeToThePicosecond) {
  processor_.reset();
  const Time start = calendar_.now();
  calendar_.runUntil(start + config_.bootTime - picoseconds(1));
  EXPECT_EQ(readRegister(0x1FC), 0xC0000000U) << "and a reset can be asked for";
  calendar_.runUntil(start + config_.bootTime);
  EXPECT_EQ(readRegister(0x1FC), 0x40000000U);
}

TEST_F(InitSegmentTest, HealthCounterMovesWithSimulatedTime) {
  const std::uint32_t before = readRegister(0x1010);
  const std::int64_t period = config_.healthPeriod.count();
  const Time next = Time((calendar_.now().count() / period + 1) * period);
  calendar_.runUntil(next - picoseconds(1));
  EXPECT_EQ(readRegister(0x1010), before);
  calendar_.runUntil(next);
  EXPECT_EQ(readRegister(0x1010), before + 1);
}

TEST_F(InitSegmentTest, TimersFollowTheClock) {
  calendar_.runUntil(milliseconds(3'000));
  const std::uint64_t ticks = (std::uint64_t{readRegister(0x1000)} << 32) | readRegister(0x1004);
  EXPECT_EQ(ticks, 3 * 156'250'000ULL);
  calendar_.runUntil(milliseconds(3'000) + nanoseconds(789));
  EXPECT_EQ(readRegister(0x1040), 3U);
  EXPECT_EQ(readRegister(0x1044), 789U);
}

TEST_F(InitSegmentTest, HealthBufferIsReadableByByte) {
  processor_.setHealthSyndrome(0x0C);
  std::uint8_t byte = 0;
  processor_.readRegister(0x200 + 0x3D, {&byte, 1});
  EXPECT_EQ(byte, 0x0C);
  EXPECT_EQ(readRegister(0x200 + 0x30), readRegister(0x00));
  EXPECT_EQ(readRegister(0x200 + 0x34), identity().hardwareId);
}

TEST_F(InitSegmentTest, WritesOfOddWidthOrElsewhereAreCountedAndIgnored) {
  const std::uint8_t bytes[64] = {0xFF};
  processor_.writeRegister(0x10, {bytes, 1});
  processor_.writeRegister(0x12, {bytes, 4});
  processor_.writeRegister(0x14, {bytes, 8});
  processor_.writeRegister(0x00, {bytes, 64});
  processor_.writeRegister(0x10, {bytes, 0});
  EXPECT_EQ(processor_.rejections(CommandRejection::kRegisterWidth), 5U);
  EXPECT_EQ(readRegister(0x10), 0U);
  writeRegister(0x00, 1);
  writeRegister(0x1FC, 1);
  writeRegister(0x3FFC, 1);
  EXPECT_EQ(processor_.rejections(CommandRejection::kRegisterNotWritable), 3U);
}

TEST_F(InitSegmentTest, DoorbellBeforeReadinessOrAddressIsCounted) {
  ring(0b101);
  EXPECT_EQ(processor_.rejections(CommandRejection::kNoQueue), 2U);
  setQueue();
  processor_.reset();
  setQueue();
  ring(1);
  EXPECT_EQ(processor_.rejections(CommandRejection::kNotReady), 1U);
  EXPECT_TRUE(processor_.idle());
}

TEST_F(InitSegmentTest, DisabledInterfaceReadsAsDisabledAndTakesNoCommand) {
  bringUp();
  const std::uint32_t pd = allocate(wire::CommandOpcode::kAllocPd);
  writeRegister(Map::kCommandQueueLow, static_cast<std::uint32_t>(queue_.value()) | 1U << 8);
  EXPECT_EQ(readRegister(0x14) >> 8 & 7, 1U);
  EXPECT_FALSE(pds_.contains(PdNumber(pd)));
  ring(1);
  EXPECT_EQ(processor_.rejections(CommandRejection::kNoQueue), 1U);
  bringUp();
  EXPECT_EQ(readRegister(0x14) >> 8 & 7, 0U);
}

TEST_F(InitSegmentTest, UnknownInterfaceStateIsIgnored) {
  setQueue();
  writeRegister(Map::kCommandQueueLow, 0xABCDE000 | 3U << 8);
  EXPECT_EQ(readRegister(0x14) & 0xFFFFF000, static_cast<std::uint32_t>(queue_.value()));
  EXPECT_EQ(processor_.rejections(CommandRejection::kRegisterNotWritable), 1U);
}

TEST_F(InitSegmentTest, DoorbellRegisterShowsWhatIsPending) {
  enable();
  memory_.store(entryAddress(3), makeEntry(makeInput(wire::CommandOpcode::kNop), 16));
  ring(1U << 3);
  EXPECT_EQ(readRegister(0x18), 1U << 3);
  drain();
  EXPECT_EQ(readRegister(0x18), 0U);
}

}  // namespace
}  // namespace hca::adapter::test

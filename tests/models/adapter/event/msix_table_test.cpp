#include "models/adapter/event/msix_table.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/models/adapter/event/eq_bench.h"

namespace hca::adapter {
namespace {

using test::EqBench;

std::vector<std::uint8_t> pending(const EqBench& bench, std::uint32_t offset = 0, std::size_t size = 8) {
  std::vector<std::uint8_t> bytes(size, 0xEE);
  bench.vectors->readPending(offset, bytes);
  return bytes;
}
std::uint8_t tableByte(const EqBench& bench, std::uint32_t offset) {
  std::uint8_t byte = 0xEE;
  bench.vectors->readTable(offset, {&byte, 1});
  return byte;
}

TEST(MsixTable, AfterResetEveryVectorIsMaskedAndNothingPending) {
  EqBench bench;
  bench.vectors->reset();
  for (std::uint32_t v = 0; v < 64; ++v) EXPECT_EQ(tableByte(bench, v * 16 + 12), 1);
  EXPECT_EQ(pending(bench), std::vector<std::uint8_t>(8, 0));
  bench.vectors->fire(InterruptVector(0));
  EXPECT_EQ(bench.messages(), 0u);
  EXPECT_EQ(bench.vectors->firedWhileDisabled(), 1u) << "disabled, too";
}

TEST(MsixTable, MessageHasTheEntrysAddressAndData) {
  EqBench bench;
  bench.writeWord(16 * 5, 0xFEE01004);
  bench.writeWord(16 * 5 + 4, 0x00000001);
  bench.writeWord(16 * 5 + 8, 0xA5A55A5A);
  bench.vectors->fire(InterruptVector(5));
  ASSERT_EQ(bench.messages(), 1u);
  EXPECT_EQ(bench.dma.log[0].address, 0x1FEE01004u);
  EXPECT_EQ(bench.dma.log[0].data, 0xA5A55A5Au);
}

TEST(MsixTable, ManyFiringsWhileMaskedAreOneMessageAtTheUnmask) {
  EqBench bench;
  std::vector<observe::InterruptEvent> told;
  bench.probes.interrupt.attach([&](const observe::InterruptEvent& e) { told.push_back(e); });
  bench.setMask(10, true);
  for (int i = 0; i < 7; ++i) bench.vectors->fire(InterruptVector(10));
  EXPECT_EQ(bench.messages(), 0u);
  EXPECT_EQ(pending(bench)[1], 0x04);
  bench.setMask(10, false);
  EXPECT_EQ(bench.messages(), 1u);
  EXPECT_EQ(pending(bench)[1], 0x00);
  bench.setMask(10, true);
  bench.setMask(10, false);
  EXPECT_EQ(bench.messages(), 1u) << "the bit is gone";
  ASSERT_EQ(told.size(), 8u);
  EXPECT_EQ(told[0].action, observe::InterruptEvent::Action::kMaskedPending);
  EXPECT_EQ(told[7].action, observe::InterruptEvent::Action::kMessageSent);
  EXPECT_EQ(told[7].vector, InterruptVector(10));
}

TEST(MsixTable, FunctionMaskHoldsEveryVector) {
  EqBench bench;
  bench.vectors->setControl(true, true);
  bench.vectors->fire(InterruptVector(1));
  bench.vectors->fire(InterruptVector(63));
  EXPECT_EQ(bench.messages(), 0u);
  EXPECT_EQ(pending(bench)[0], 0x02);
  EXPECT_EQ(pending(bench)[7], 0x80);
  bench.setMask(63, true);
  bench.vectors->setControl(true, false);
  ASSERT_EQ(bench.messages(), 1u);
  EXPECT_EQ(bench.dma.log[0].data, 0x41u);
  EXPECT_EQ(pending(bench)[7], 0x80) << "its own mask still holds this one";
  bench.setMask(63, false);
  EXPECT_EQ(bench.messages(), 2u);
}

TEST(MsixTable, PendingMessageWaitsForTheEnable) {
  EqBench bench;
  bench.setMask(2, true);
  bench.vectors->fire(InterruptVector(2));
  bench.vectors->setControl(false, false);
  bench.setMask(2, false);
  EXPECT_EQ(bench.messages(), 0u);
  bench.vectors->setControl(true, false);
  EXPECT_EQ(bench.messages(), 1u);
}

TEST(MsixTable, UnmaskInOneLongWriteSeesTheNewAddress) {
  EqBench bench;
  bench.setMask(0, true);
  bench.vectors->fire(InterruptVector(0));
  const std::vector<std::uint8_t> entry = {0x00, 0x20, 0xE0, 0xFE, 0, 0, 0, 0, 0x99, 0, 0, 0, 0, 0, 0, 0};
  bench.vectors->writeTable(0, entry);
  ASSERT_EQ(bench.messages(), 1u);
  EXPECT_EQ(bench.dma.log[0].address, 0xFEE02000u);
  EXPECT_EQ(bench.dma.log[0].data, 0x99u);
}

TEST(MsixTable, ReservedControlBitsStayZeroAndOutsideIsHarmless) {
  EqBench bench;
  bench.writeWord(12, 0xFFFFFFFF);
  EXPECT_EQ(tableByte(bench, 12), 1);
  EXPECT_EQ(tableByte(bench, 13), 0);
  bench.writeWord(64 * 16, 0xFFFFFFFF);
  bench.writeWord(0xFFFFFFF0, 0xFFFFFFFF);
  EXPECT_EQ(tableByte(bench, 64 * 16), 0);
  EXPECT_EQ(pending(bench, 8, 4), std::vector<std::uint8_t>(4, 0));
}

TEST(MsixTable, PendingArrayHasWholeWords) {
  EqBench bench;
  MsixTable small(bench.context, 3);
  EXPECT_EQ(small.tableBytes(), 48u);
  EXPECT_EQ(small.pendingBytes(), 8u);
  MsixTable large(bench.context, 65);
  EXPECT_EQ(large.pendingBytes(), 16u);
}

TEST(MsixTable, LostMessagesAreThoseThatWereAskedFor) {
  EqBench bench;
  int lost = 0;
  bench.vectors->lose({InterruptVector(3), {1, 2}, [&] { ++lost; }});
  bench.vectors->fire(InterruptVector(4));
  bench.vectors->fire(InterruptVector(3));
  EXPECT_EQ(bench.messages(), 2u) << "another vector, and the one that is spared";
  bench.setMask(3, true);
  bench.vectors->fire(InterruptVector(3));
  EXPECT_EQ(lost, 0) << "pending, not sent";
  bench.setMask(3, false);
  EXPECT_EQ(lost, 1);
  EXPECT_EQ(pending(bench)[0], 0) << "the adapter believes it sent";
  bench.vectors->fire(InterruptVector(3));
  bench.vectors->fire(InterruptVector(3));
  EXPECT_EQ(lost, 2);
  EXPECT_EQ(bench.messages(), 3u);
}

}  // namespace
}  // namespace hca::adapter

// Queues of which every entry is written to slot 0.
#include <gtest/gtest.h>

#include "tests/models/adapter/completion/cq_bench.h"

namespace hca::adapter {
namespace {

using test::CqBench;

CqNumber createCollapsed(CqBench& bench, std::uint8_t logSize, CqeStride stride = CqeStride::k64,
                         bool ignoreOverrun = false) {
  CqAttributes wanted = bench.attributes(logSize, stride);
  wanted.collapsed = true;
  wanted.ignoreOverrun = ignoreOverrun;
  return bench.create(wanted);
}

/// The WQE counter of the entry in slot 0, which is all that such a reader looks at.
std::uint16_t counterInSlotZero(const CqBench& bench) {
  return wire::loadBigEndian<std::uint16_t>(&bench.dma.memory[CqBench::kRingBase + 0x3C]);
}

TEST(CqCollapsed, EveryEntryGoesToSlotZeroWithTheOwnerBitOfItsIndex) {
  CqBench bench;
  const CqNumber cq = createCollapsed(bench, 1);
  bench.setConsumerIndex(cq, 0);
  for (std::uint32_t entry = 0; entry < 6; ++entry) {
    bench.complete(cq);
    bench.settle();
    bench.setConsumerIndex(cq, entry + 1);
    EXPECT_EQ(counterInSlotZero(bench), entry);
  }
  const auto writes = bench.dma.of(pcie::Traffic::kCqe);
  ASSERT_EQ(writes.size(), 6u);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    EXPECT_EQ(writes[i].address, CqBench::kRingBase) << i;
    EXPECT_EQ(writes[i].bytes[63] & 1, i / 2 % 2) << i;
  }
}

TEST(CqCollapsed, WideEntriesEndAtTheEndOfSlotZero) {
  CqBench bench;
  const CqNumber narrow = createCollapsed(bench, 2, CqeStride::k128);
  bench.complete(narrow, 2);
  bench.settle();
  for (const auto& write : bench.dma.of(pcie::Traffic::kCqe)) {
    EXPECT_EQ(write.address, CqBench::kRingBase + 64);
    EXPECT_EQ(write.bytes.size(), 64u);
  }
}

// Software writes its index all the same (DPDK drivers/vdpa/mlx5/mlx5_vdpa_event.c): the ring's size is how far it may
// be behind.
TEST(CqCollapsed, OverrunCountsIndicesNotSlots) {
  CqBench bench;
  const CqNumber cq = createCollapsed(bench, 2);
  bench.complete(cq, 4);
  bench.settle();
  EXPECT_TRUE(bench.events.of(EventType::kCqError).empty());
  bench.complete(cq, 1);
  bench.settle();
  EXPECT_EQ(bench.events.of(EventType::kCqError).size(), 1u);
  EXPECT_EQ(counterInSlotZero(bench), 3) << "the one too many was not written";
}

TEST(CqCollapsed, WithOverrunIgnoredNothingIsLostAndNoRecordRead) {
  CqBench bench;
  const CqNumber cq = createCollapsed(bench, 0, CqeStride::k64, true);
  bench.complete(cq, 100);
  bench.settle();
  EXPECT_EQ(counterInSlotZero(bench), 99);
  EXPECT_EQ(bench.counters(cq).cqes, 100u);
  EXPECT_EQ(bench.counters(cq).lost, 0u);
  EXPECT_EQ(bench.dma.reads, 0u);
  EXPECT_TRUE(bench.events.events.empty());
}

TEST(CqCollapsed, ArmsWorkAsEver) {
  CqBench bench;
  const CqNumber cq = createCollapsed(bench, 2);
  bench.complete(cq, 1);
  bench.settle();
  bench.arm(cq, 1);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 0u);
  bench.complete(cq, 2);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 1u);
}

TEST(CqCollapsed, ResizeGoesOnInSlotZeroOfTheNewRing) {
  CqBench bench;
  const CqNumber cq = createCollapsed(bench, 2);
  bench.complete(cq, 1);
  bench.settle();
  const CqAttributes fresh = bench.attributes(3);
  ASSERT_TRUE(bench.engine->resize(cq, {CqeStride::k64, 3, fresh.ring}).ok());
  bench.complete(cq, 1);
  bench.settle();
  const auto writes = bench.dma.of(pcie::Traffic::kCqe);
  ASSERT_EQ(writes.size(), 3u);
  EXPECT_EQ(writes[1].address, CqBench::kRingBase);
  EXPECT_EQ(writes[1].bytes[63] >> 4, 5) << "the resize entry";
  EXPECT_EQ(writes[2].address, fresh.ring.pages[0].value());
}

TEST(CqCollapsed, QueryGivesTheBitBack) {
  CqBench bench;
  EXPECT_TRUE(bench.query(createCollapsed(bench, 0)).collapsed);
}

}  // namespace
}  // namespace hca::adapter

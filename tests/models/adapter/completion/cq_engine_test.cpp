#include "models/adapter/completion/cq_engine.h"

#include <gtest/gtest.h>

#include "tests/models/adapter/completion/cq_bench.h"

namespace hca::adapter {
namespace {

using test::CqBench;
using Kind = hca::test::FakeDmaPort::Operation::Kind;

TEST(CqEngine, EntryIsHandedToPcieAtItsCycleAndNotBefore) {
  CqBench bench;
  bench.config.cqeBuildCycles = Cycles(4);
  bench.config.cqeWriteCycles = Cycles(36);
  bench.build();
  const CqNumber cq = bench.createSmall();
  bench.complete(cq);
  bench.calendar.runUntil(nanoseconds(39));
  EXPECT_TRUE(bench.dma.log.empty());
  bench.calendar.runUntil(nanoseconds(40));
  ASSERT_EQ(bench.dma.log.size(), 1u);
  const auto& write = bench.dma.log.front();
  EXPECT_EQ(write.kind, Kind::kWrite);
  EXPECT_EQ(write.traffic, pcie::Traffic::kCqe);
  EXPECT_EQ(write.address, CqBench::kRingBase);
  EXPECT_EQ(write.bytes.size(), 64u);
  EXPECT_FALSE(write.relaxedOrdering) << "a CQE never overtakes data";
}

TEST(CqEngine, WriterTakesTheNextEntryAfterItsOccupancy) {
  CqBench bench;
  bench.config.cqeBuildCycles = Cycles(10);
  bench.config.cqeWriteCycles = Cycles(100);
  bench.build();
  const CqNumber one = bench.createSmall();
  const CqNumber two = bench.createSmall();
  bench.complete(one);
  bench.complete(two);
  bench.complete(one);
  bench.settle();
  ASSERT_EQ(bench.dma.log.size(), 3u);
  EXPECT_EQ(bench.dma.log[0].time, nanoseconds(110));
  EXPECT_EQ(bench.dma.log[1].time, nanoseconds(120));
  EXPECT_EQ(bench.dma.log[2].time, nanoseconds(130));
}

TEST(CqEngine, OneCalendarEntryForAnUnarmedEntryAndNoNotification) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.complete(cq);
  bench.calendar.step();
  EXPECT_EQ(bench.dma.writes, 1u);
  EXPECT_FALSE(bench.dma.log.front().notify);
  EXPECT_TRUE(bench.events.events.empty());
}

TEST(CqEngine, EntriesFillTheRingAndFlipTheOwnerBit) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  for (std::uint32_t i = 0; i < 11; ++i) {
    bench.setConsumerIndex(cq, i);
    bench.complete(cq);
    bench.settle();
  }
  const auto writes = bench.dma.of(pcie::Traffic::kCqe);
  ASSERT_EQ(writes.size(), 11u);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    EXPECT_EQ(writes[i].address, CqBench::kRingBase + i % 4 * 64);
    EXPECT_EQ(writes[i].bytes[63], i / 4 % 2) << "entry " << i;
    EXPECT_EQ(writes[i].bytes[0x3D], i) << "in the order of completion";
  }
}

TEST(CqEngine, RingMayStartInsideAPageAndGoOnInAnother) {
  CqBench bench;
  CqAttributes wanted = bench.attributes(6);
  wanted.ring.offset = 4096 - 128;
  wanted.ring.pages = {BusAddress(0x20000), BusAddress(0x40000)};
  const CqNumber cq = bench.create(wanted);
  bench.complete(cq, 3);
  bench.settle();
  const auto writes = bench.dma.of(pcie::Traffic::kCqe);
  EXPECT_EQ(writes[1].address, 0x20000u + 4096 - 64);
  EXPECT_EQ(writes[2].address, 0x40000u);
}

TEST(CqEngine, WideEntriesKeepTheirStride) {
  CqBench bench;
  const CqNumber wide = bench.create(bench.attributes(2, CqeStride::k128));
  const CqNumber padded = bench.create(bench.attributes(2, CqeStride::k128Padded));
  bench.complete(wide, 2);
  bench.complete(padded, 2);
  bench.settle();
  const auto writes = bench.dma.of(pcie::Traffic::kCqe);
  EXPECT_EQ(writes[1].address, CqBench::kRingBase + 128 + 64);
  EXPECT_EQ(writes[1].bytes.size(), 64u);
  EXPECT_EQ(writes[3].address, CqBench::kRingBase + 4096 + 128);
  EXPECT_EQ(writes[3].bytes.size(), 128u);
}

// A queue of two entries, as latency tests have it: the record is looked at when the queue is full, not when the next
// entry waits.
TEST(CqEngine, ConsumerIndexOfAFullQueueIsReadAhead) {
  CqBench bench;
  const CqNumber cq = bench.create(bench.attributes(1));
  bench.complete(cq);
  bench.settle();
  EXPECT_EQ(bench.engine->counters().consumerIndexReads, 0U) << "room for one more";
  bench.setConsumerIndex(cq, 1);
  bench.complete(cq);
  bench.settle();
  EXPECT_EQ(bench.engine->counters().consumerIndexReads, 1U);
  bench.setConsumerIndex(cq, 2);
  const std::uint64_t before = bench.counters(cq).cqes;
  bench.complete(cq);
  const Time began = bench.calendar.now();
  while (bench.counters(cq).cqes == before) bench.runFor(nanoseconds(1));
  EXPECT_LT(bench.calendar.now() - began, nanoseconds(100)) << "it needn't wait for a read";
  bench.settle();
  EXPECT_EQ(bench.counters(cq).overruns, 0U);
}

// What was read ahead may be out of date: an entry that waits gets a look of its own before it counts as one too many.
TEST(CqEngine, WhatWasReadAheadBringsNoQueueDown) {
  CqBench bench;
  const CqNumber cq = bench.create(bench.attributes(1));
  bench.complete(cq, 2);
  bench.settle();
  bench.complete(cq);
  bench.setConsumerIndex(cq, 1);
  bench.settle();
  EXPECT_EQ(bench.counters(cq).cqes, 3U);
  EXPECT_EQ(bench.counters(cq).overruns, 0U);
  bench.complete(cq);
  bench.settle();
  EXPECT_EQ(bench.counters(cq).overruns, 1U) << "still full at its own look";
}

TEST(CqEngine, DiscardDropsWhatIsNotHandedOver) {
  CqBench bench;
  const CqNumber cq = bench.create(bench.attributes(4));
  bench.complete(cq, 1, 64);
  bench.settle();
  bench.complete(cq, 2, 64);
  bench.complete(cq, 1, 65);
  bench.engine->discard(QpNumber(64));
  bench.complete(cq, 1, 64);  // after the reset, the queue pair starts anew
  bench.settle();
  const auto writes = bench.dma.of(pcie::Traffic::kCqe);
  ASSERT_EQ(writes.size(), 3u);
  EXPECT_EQ(writes[0].bytes[0x3B], 64);
  EXPECT_EQ(writes[1].bytes[0x3B], 65);
  EXPECT_EQ(writes[2].bytes[0x3B], 64);
  EXPECT_EQ(bench.engine->counters().completionsDiscarded, 2u);
  EXPECT_TRUE(bench.failures.qps.empty());
}

TEST(CqEngine, FailedWriteBringsTheQueueDown) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.dma.broken.insert(CqBench::kRingBase + 64);
  bench.complete(cq, 2);
  bench.settle();
  const auto errors = bench.events.of(EventType::kCqError);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].record.object, cq.value());
  EXPECT_EQ(errors[0].record.syndrome, 2);
  EXPECT_EQ(bench.query(cq).status, CqStatus::kWriteFailed);
  bench.complete(cq, 2, 66);
  bench.settle();
  EXPECT_EQ(bench.dma.count(pcie::Traffic::kCqe), 2u);
  EXPECT_EQ(bench.failures.qps, (std::vector<std::uint32_t>{66, 66}));
  EXPECT_EQ(bench.events.of(EventType::kCqError).size(), 1u);
}

}  // namespace
}  // namespace hca::adapter

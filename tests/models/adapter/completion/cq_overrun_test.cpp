// A completion queue that its consumer doesn't empty in time.
#include <gtest/gtest.h>

#include "tests/models/adapter/completion/cq_bench.h"

namespace hca::adapter {
namespace {

using test::CqBench;

CqNumber createIgnoring(CqBench& bench) {
  CqAttributes wanted = bench.attributes(2);
  wanted.ignoreOverrun = true;
  return bench.create(wanted);
}

TEST(CqOverrun, RecordIsNotReadWhileThereIsRoom) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.complete(cq, 3);
  bench.settle();
  EXPECT_EQ(bench.dma.reads, 0u);
  bench.complete(cq, 1);
  bench.settle();
  EXPECT_EQ(bench.dma.reads, 1u) << "ahead, since the next entry will want to know";
  EXPECT_EQ(bench.dma.count(pcie::Traffic::kCqe), 4u);
}

TEST(CqOverrun, FreshConsumerIndexSavesAFalseOverrun) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.complete(cq, 4);
  bench.settle();
  bench.setConsumerIndex(cq, 4);
  bench.complete(cq, 4);
  bench.settle();
  EXPECT_EQ(bench.dma.reads, 3u) << "one look serves all four; before and after it one ahead";
  EXPECT_EQ(bench.dma.of(pcie::Traffic::kDoorbellRecord).front().address, bench.record(cq));
  EXPECT_EQ(bench.dma.count(pcie::Traffic::kCqe), 8u);
  EXPECT_TRUE(bench.events.events.empty());
  EXPECT_EQ(bench.query(cq).consumerCounter, 4u);
}

TEST(CqOverrun, CompletionsWaitForTheAnswerInOrder) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  const CqNumber other = bench.createSmall();
  bench.complete(cq, 4);
  bench.settle();
  bench.setConsumerIndex(cq, 3);
  bench.complete(cq, 1);
  bench.runFor(nanoseconds(100));
  bench.complete(cq, 1);
  bench.complete(other, 1);
  bench.runFor(nanoseconds(100));
  EXPECT_EQ(bench.dma.count(pcie::Traffic::kCqe), 5u) << "the other queue goes on";
  bench.settle();
  const auto writes = bench.dma.of(pcie::Traffic::kCqe);
  ASSERT_EQ(writes.size(), 7u);
  EXPECT_EQ(writes[5].bytes[0x3D], 4);
  EXPECT_EQ(writes[6].bytes[0x3D], 5);
  EXPECT_EQ(writes[6].address, CqBench::kRingBase + 64);
}

TEST(CqOverrun, WaitingEntryGetsALookOfItsOwn) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.complete(cq, 4);
  bench.settle();
  bench.setConsumerIndex(cq, 1);
  bench.complete(cq, 2);
  bench.runFor(nanoseconds(600));
  bench.setConsumerIndex(cq, 2);  // after the first look at the record, before its answer
  bench.settle();
  EXPECT_EQ(bench.dma.count(pcie::Traffic::kCqe), 6u);
  EXPECT_EQ(bench.dma.reads, 4u) << "one for each, and one ahead each time that the queue was full";
  EXPECT_TRUE(bench.events.events.empty());
}

TEST(CqOverrun, OneErrorEventNamesTheQueueAndEntriesStop) {
  CqBench bench;
  std::vector<observe::CqEvent> overruns;
  bench.probes.cq.attach([&](const observe::CqEvent& e) {
    if (e.action == observe::CqAction::kOverrun) overruns.push_back(e);
  });
  const CqNumber cq = bench.createSmall();
  bench.complete(cq, 4, 64);
  bench.complete(cq, 2, 65);
  bench.settle();
  const auto errors = bench.events.of(EventType::kCqError);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].record.object, cq.value());
  EXPECT_EQ(errors[0].record.syndrome, 1);
  EXPECT_EQ(bench.query(cq).status, CqStatus::kOverflow);
  EXPECT_EQ(bench.dma.count(pcie::Traffic::kCqe), 4u);
  EXPECT_EQ(bench.counters(cq).overruns, 1u);
  EXPECT_EQ(bench.counters(cq).refused, 2u);
  EXPECT_EQ(bench.failures.qps, (std::vector<std::uint32_t>{65, 65}));
  ASSERT_EQ(overruns.size(), 1u);
  EXPECT_EQ(overruns[0].index, 4u);
}

TEST(CqOverrun, LaterCompletionsFailTheirQueuePairsEvenWhenThereIsRoomAgain) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.complete(cq, 5);
  bench.settle();
  bench.setConsumerIndex(cq, 4);
  bench.complete(cq, 1, 70);
  bench.complete(cq, 1, 71);
  bench.settle();
  EXPECT_EQ(bench.failures.qps, (std::vector<std::uint32_t>{64, 70, 71}));
  EXPECT_EQ(bench.dma.count(pcie::Traffic::kCqe), 4u);
  EXPECT_EQ(bench.events.of(EventType::kCqError).size(), 1u) << "once";
}

TEST(CqOverrun, QueuePairThatFlushesIntoTheDeadQueueDoesNoHarm) {
  CqBench bench;
  struct Flushing final : QpFailureSink {
    explicit Flushing(CqBench& b) : bench(b) {}
    void onCompletionQueueFailed(QpNumber qp) override {
      if (++calls > 3) return;
      for (int i = 0; i < 50; ++i) bench.engine->complete(CqBench::completion(cq, qp.value()));
    }
    CqBench& bench;
    CqNumber cq;
    int calls = 0;
  } flushing(bench);
  bench.engine->setFailureSink(flushing);
  flushing.cq = bench.createSmall();
  bench.complete(flushing.cq, 6);
  bench.settle();
  EXPECT_EQ(flushing.calls, 152);
  EXPECT_EQ(bench.counters(flushing.cq).refused, 152u);
}

TEST(CqOverrun, IndexAheadOfTheProducerDoesNotMakeRoom) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.setConsumerIndex(cq, 9);
  bench.complete(cq, 5);
  bench.settle();
  EXPECT_EQ(bench.engine->counters().consumerIndexNonsense, 2u) << "read ahead, and for the fifth";
  EXPECT_EQ(bench.query(cq).status, CqStatus::kOverflow);
}

TEST(CqOverrun, ArmDoesNotMakeRoomEither) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.complete(cq, 4);
  bench.settle();
  bench.arm(cq, 4);
  bench.settle();
  bench.complete(cq);
  bench.settle();
  EXPECT_EQ(bench.query(cq).status, CqStatus::kOverflow);
}

TEST(CqOverrun, UnreadableRecordIsAnAccessViolation) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.dma.broken.insert(bench.record(cq));
  bench.complete(cq, 5);
  bench.settle();
  EXPECT_EQ(bench.query(cq).status, CqStatus::kWriteFailed);
  ASSERT_EQ(bench.events.of(EventType::kCqError).size(), 1u);
  EXPECT_EQ(bench.events.of(EventType::kCqError)[0].record.syndrome, 2);
}

TEST(CqOverrun, ResetQueuePairStopsWaiting) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.complete(cq, 4);
  bench.settle();
  bench.complete(cq, 1, 80);
  bench.runFor(nanoseconds(100));  // it waits for the record by now
  bench.engine->discard(QpNumber(80));
  bench.settle();
  EXPECT_EQ(bench.query(cq).status, CqStatus::kOk) << "the entry that found no room is gone";
  EXPECT_TRUE(bench.failures.qps.empty());
}

TEST(CqOverrun, DestroyWhileEntriesWait) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.complete(cq, 5);
  bench.runFor(nanoseconds(100));
  EXPECT_TRUE(bench.engine->destroy(cq).ok());
  bench.settle();
  EXPECT_EQ(bench.engine->counters().completionsUnknownCq, 1u);
  const CqNumber next = bench.createSmall();
  bench.complete(next, 4);
  bench.settle();
  EXPECT_EQ(bench.dma.count(pcie::Traffic::kCqe), 8u);
}

TEST(CqOverrun, AnswerForADestroyedQueueDoesNotReachItsSuccessor) {
  CqBench bench;
  bench.config.logMaxCqs = 1;  // one number: it is used again at once
  bench.build();
  const CqNumber cq = bench.createSmall();
  bench.setConsumerIndex(cq, 4);
  bench.complete(cq, 5);
  bench.runFor(nanoseconds(100));
  ASSERT_TRUE(bench.engine->destroy(cq).ok());
  ASSERT_EQ(bench.createSmall(), cq);
  bench.complete(cq, 5);
  bench.runFor(nanoseconds(560));  // the first answer has come, the second not yet
  EXPECT_EQ(bench.query(cq).status, CqStatus::kOk);
  EXPECT_EQ(bench.dma.count(pcie::Traffic::kCqe), 8u);
  EXPECT_EQ(bench.engine->counters().consumerIndexNonsense, 0u);
  bench.settle();
  EXPECT_EQ(bench.query(cq).status, CqStatus::kOverflow);
}

TEST(CqOverrun, FailureOfADestroyedQueueDoesNotReachItsSuccessor) {
  CqBench bench;
  bench.config.logMaxCqs = 1;
  bench.build();
  const CqNumber cq = bench.createSmall();
  bench.dma.broken.insert(CqBench::kRingBase);
  bench.complete(cq);
  bench.runFor(nanoseconds(100));
  ASSERT_TRUE(bench.engine->destroy(cq).ok());
  ASSERT_EQ(bench.createSmall(), cq);
  bench.settle();
  EXPECT_EQ(bench.query(cq).status, CqStatus::kOk);
  EXPECT_TRUE(bench.events.events.empty());
}

TEST(CqOverrunIgnored, EveryEntryIsWrittenAtOnce) {
  CqBench bench;
  const CqNumber cq = createIgnoring(bench);
  bench.complete(cq, 10);
  bench.runFor(nanoseconds(100));
  EXPECT_EQ(bench.dma.count(pcie::Traffic::kCqe), 10u) << "nothing waits for the record";
  bench.settle();
  EXPECT_TRUE(bench.events.events.empty());
  EXPECT_TRUE(bench.failures.qps.empty());
  EXPECT_EQ(bench.query(cq).status, CqStatus::kOk);
  EXPECT_EQ(bench.counters(cq).lost, 6u);
  EXPECT_EQ(bench.counters(cq).overruns, 0u);
}

TEST(CqOverrunIgnored, ConsumedEntriesAreNotLost) {
  CqBench bench;
  std::vector<std::uint64_t> lost;
  bench.probes.cq.attach([&](const observe::CqEvent& e) {
    if (e.action == observe::CqAction::kEntryLost) lost.push_back(e.index);
  });
  const CqNumber cq = createIgnoring(bench);
  bench.complete(cq, 4);
  bench.settle();
  bench.setConsumerIndex(cq, 3);
  bench.complete(cq, 5);  // overwrites 0..4, of which 3 and 4 were not read
  bench.settle();
  EXPECT_EQ(bench.counters(cq).lost, 2u);
  EXPECT_EQ(lost, (std::vector<std::uint64_t>{3, 4}));
}

TEST(CqOverrunIgnored, SoftwareThatNeverWritesItsIndexTellsItByItsArms) {
  CqBench bench;
  const CqNumber cq = createIgnoring(bench);
  for (int round = 0; round < 8; ++round) {
    bench.arm(cq, static_cast<std::uint64_t>(round), static_cast<std::uint8_t>(round & 3));
    bench.settle();
    bench.complete(cq);
    bench.settle();
  }
  EXPECT_EQ(bench.counters(cq).lost, 0u);
  EXPECT_EQ(bench.completionEvents(), 8u);
}

TEST(CqOverrunIgnored, UnreadableRecordChangesNothing) {
  CqBench bench;
  const CqNumber cq = createIgnoring(bench);
  bench.dma.broken.insert(bench.record(cq));
  bench.complete(cq, 6);
  bench.settle();
  EXPECT_EQ(bench.query(cq).status, CqStatus::kOk);
  EXPECT_EQ(bench.counters(cq).lost, 2u);
}

TEST(CqOverrunIgnored, SwitchingItOnLetsWaitingEntriesGo) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.complete(cq, 6);
  bench.runFor(nanoseconds(100));
  EXPECT_EQ(bench.dma.count(pcie::Traffic::kCqe), 4u);
  CqModeration change;
  change.ignoreOverrun = true;
  ASSERT_TRUE(bench.engine->modifyModeration(cq, change).ok());
  bench.settle();
  EXPECT_EQ(bench.dma.count(pcie::Traffic::kCqe), 6u);
  EXPECT_EQ(bench.counters(cq).lost, 2u);
  EXPECT_TRUE(bench.events.events.empty());
}

TEST(CqOverrun, AQueueCanBeBrokenOnPurpose) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  const CqNumber other = bench.createSmall();
  EXPECT_EQ(bench.engine->lastQueue(), other);
  EXPECT_TRUE(bench.engine->breakQueue(cq, CqStatus::kWriteFailed));
  EXPECT_FALSE(bench.engine->breakQueue(cq, CqStatus::kOverflow)) << "once";
  EXPECT_FALSE(bench.engine->breakQueue(CqNumber(0xFFFF), CqStatus::kOverflow));
  ASSERT_EQ(bench.events.events.size(), 1u);
  EXPECT_EQ(bench.events.events[0].record.object, cq.value());
  EXPECT_EQ(bench.events.events[0].record.syndrome, 2);
  bench.complete(cq, 1);
  bench.settle();
  EXPECT_EQ(bench.dma.count(pcie::Traffic::kCqe), 0u);
}

}  // namespace
}  // namespace hca::adapter

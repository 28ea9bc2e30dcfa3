// Queues that raise their events unasked: always armed, or a request that wants CQE and EQE.
#include <gtest/gtest.h>

#include "tests/models/adapter/completion/cq_bench.h"

namespace hca::adapter {
namespace {

using test::CqBench;

CqAttributes alwaysArmed(CqBench& bench) {
  CqAttributes wanted = bench.attributes(4);
  wanted.alwaysArmed = true;
  return wanted;
}

constexpr ArmRule kRules[] = {ArmRule::kIbSpec, ArmRule::kCiCompare, ArmRule::kCiCompareOnce,
                              ArmRule::kCiCompareStaleLoses};

TEST(CqAlwaysArmed, EveryEntryRaisesAnEventWhateverTheRule) {
  for (const ArmRule rule : kRules) {
    CqBench bench(rule);
    const CqNumber cq = bench.create(alwaysArmed(bench));
    for (std::size_t entry = 1; entry <= 3; ++entry) {
      bench.complete(cq);
      bench.settle();
      EXPECT_EQ(bench.completionEvents(), entry);
      EXPECT_EQ(bench.query(cq).notification, NotificationState::kAlwaysArmed);
    }
    EXPECT_EQ(bench.counters(cq).hazards, 0u);
  }
}

TEST(CqAlwaysArmed, EventComesRightBehindItsEntry) {
  CqBench bench;
  const CqNumber cq = bench.create(alwaysArmed(bench));
  bench.complete(cq, 2);
  bench.settle();
  const auto events = bench.events.of(EventType::kCompletion);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].operationsBefore, 1u);
  EXPECT_EQ(events[1].operationsBefore, 2u);
}

TEST(CqAlwaysArmed, ArmIsIgnored) {
  for (const ArmRule rule : kRules) {
    CqBench bench(rule);
    const CqNumber cq = bench.create(alwaysArmed(bench));
    bench.complete(cq);
    bench.settle();
    bench.arm(cq, 0);
    bench.arm(cq, 0, 1, true);
    bench.settle();
    EXPECT_EQ(bench.completionEvents(), 1u);
    EXPECT_EQ(bench.counters(cq).armsIgnored, 2u);
    bench.complete(cq);
    bench.settle();
    EXPECT_EQ(bench.completionEvents(), 2u) << "an arm for solicited entries alone changes nothing";
  }
}

TEST(CqAlwaysArmed, ModerationGathersTheEvents) {
  CqBench bench;
  CqAttributes wanted = alwaysArmed(bench);
  wanted.moderationCount = 4;
  const CqNumber cq = bench.create(wanted);
  bench.complete(cq, 3);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 0u);
  bench.complete(cq, 1);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 1u);
  bench.complete(cq, 4);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 2u);
}

TEST(CqAlwaysArmed, CompressedQueueHoldsNothingBack) {
  CqBench bench;
  CqAttributes wanted = alwaysArmed(bench);
  wanted.compression = true;
  const CqNumber cq = bench.create(wanted);
  bench.complete(cq, 2);
  bench.runFor(nanoseconds(200));  // the time-out is a microsecond
  EXPECT_EQ(bench.counters(cq).cqes, 2u);
  EXPECT_EQ(bench.completionEvents(), 2u);
}

TEST(CqAlwaysArmed, OverrunEndsTheEvents) {
  CqBench bench;
  const CqNumber cq = bench.create(alwaysArmed(bench));
  bench.complete(cq, 17);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 16u);
  EXPECT_EQ(bench.events.of(EventType::kCqError).size(), 1u);
}

TEST(CqForcedEvent, IgnoresModeration) {
  CqBench bench;
  CqAttributes wanted = bench.attributes(4);
  wanted.moderationCount = 8;
  const CqNumber cq = bench.create(wanted);
  bench.arm(cq, 0);
  bench.complete(cq);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 0u);
  CompletionRecord record = CqBench::completion(cq);
  record.forceEvent = true;
  bench.engine->complete(record);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 1u);
  EXPECT_EQ(bench.query(cq).notification, NotificationState::kFired) << "and serves the arm that waited";
}

TEST(CqForcedEvent, WithOverrunIgnoredEveryOneRaisesItsEvent) {
  CqBench bench;
  CqAttributes wanted = bench.attributes(1);
  wanted.ignoreOverrun = true;
  const CqNumber cq = bench.create(wanted);
  CompletionRecord record = CqBench::completion(cq);
  record.forceEvent = true;
  for (int i = 0; i < 5; ++i) bench.engine->complete(record);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 5u);
}

}  // namespace
}  // namespace hca::adapter

// Arms, events and moderation of completion queues, to the cycle.
#include <gtest/gtest.h>

#include "models/adapter/completion/cq_engine.h"
#include "tests/models/adapter/completion/cq_bench.h"

namespace hca::adapter {
namespace {

using test::CqBench;
using Kind = hca::test::FakeDmaPort::Operation::Kind;

TEST(CqEngine, EventFollowsItsEntry) {
  CqBench bench;
  CqAttributes wanted = bench.attributes(2);
  wanted.eq = EqNumber(2);
  const CqNumber cq = bench.create(wanted);
  bench.arm(cq, 0);
  bench.complete(cq, 3);
  bench.settle();
  ASSERT_EQ(bench.events.events.size(), 1u);
  const auto& event = bench.events.events.front();
  EXPECT_EQ(event.eq, EqNumber(2)) << "its own event queue";
  EXPECT_EQ(event.record.object, cq.value());
  EXPECT_EQ(event.operationsBefore, 1u) << "behind the first CQE, before the second";
  EXPECT_EQ(event.time, bench.dma.log.front().time);
  EXPECT_EQ(bench.counters(cq).events, 1u);
  EXPECT_EQ(bench.counters(cq).arms, 1u);
  EXPECT_EQ(bench.query(cq).notification, NotificationState::kFired);
}

// The arm arrives in the cycle before, with, and after the hand-over of the entry.
TEST(CqEngine, ArmAndEntryRaceToTheCycle) {
  const auto eventsFor = [](std::int64_t armAt) {
    CqBench bench;
    bench.config.cqeBuildCycles = Cycles(0);
    bench.config.cqeWriteCycles = Cycles(100);
    bench.config.armLatencyCycles = Cycles(20);
    bench.build();
    const CqNumber cq = bench.createSmall();
    bench.complete(cq);  // handed over at 100 ns
    bench.runFor(nanoseconds(armAt));
    bench.arm(cq, 0);
    bench.settle();
    return bench.completionEvents();
  };
  EXPECT_EQ(eventsFor(99), 1u) << "the entry comes after it";
  EXPECT_EQ(eventsFor(100), 0u) << "the same picosecond, the entry first";
  EXPECT_EQ(eventsFor(101), 0u) << "the entry was written before";
}

TEST(CqEngine, EventThatAnArmFindsOwedTakesTheArmsLatency) {
  CqBench bench(ArmRule::kCiCompare);
  bench.config.armLatencyCycles = Cycles(20);
  bench.build();
  const CqNumber cq = bench.createSmall();
  bench.complete(cq);
  bench.settle();
  bench.arm(cq, 0);
  bench.runFor(nanoseconds(19));
  EXPECT_EQ(bench.completionEvents(), 0u);
  bench.runFor(nanoseconds(1));
  EXPECT_EQ(bench.completionEvents(), 1u);
}

TEST(CqEngine, EntryBehindTheArmIsToldNoSoonerThanTheArmIsProcessed) {
  CqBench bench;
  bench.config.cqeBuildCycles = Cycles(0);
  bench.config.cqeWriteCycles = Cycles(5);
  bench.config.armLatencyCycles = Cycles(20);
  bench.build();
  const CqNumber cq = bench.createSmall();
  bench.complete(cq);
  bench.arm(cq, 0);
  bench.runFor(nanoseconds(19));
  EXPECT_EQ(bench.dma.writes, 1u);
  EXPECT_EQ(bench.completionEvents(), 0u);
  bench.settle();
  ASSERT_EQ(bench.completionEvents(), 1u);
  EXPECT_EQ(bench.events.events.front().time, nanoseconds(20));
}

TEST(CqEngine, WaitingArmCostsNoCalendarEntry) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.arm(cq, 0);
  EXPECT_TRUE(bench.calendar.empty());
}

TEST(CqEngine, LenientRuleThatGaveTheEventIsAHazard) {
  CqBench bench(ArmRule::kCiCompareOnce);
  std::vector<observe::HazardEvent> hazards;
  bench.probes.hazard.attach([&](const observe::HazardEvent& e) { hazards.push_back(e); });
  const CqNumber cq = bench.create(bench.attributes(3));
  bench.complete(cq, 3);
  bench.settle();
  bench.arm(cq, 1);
  bench.settle();
  ASSERT_EQ(hazards.size(), 1u);
  EXPECT_EQ(hazards[0].kind, observe::HazardEvent::Kind::kArmAfterEntry);
  EXPECT_EQ(hazards[0].cq, cq);
  EXPECT_EQ(hazards[0].host, HostIndex(3));
  EXPECT_EQ(hazards[0].firstEntry, 1u);
  EXPECT_EQ(hazards[0].entries, 2u);
  EXPECT_EQ(hazards[0].time, bench.events.events.front().time);
  bench.arm(cq, 3, 1);
  bench.settle();
  bench.complete(cq);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 2u);
  EXPECT_EQ(hazards.size(), 1u) << "an entry after the arm is no hazard";
  EXPECT_EQ(bench.counters(cq).hazards, 1u);
}

TEST(CqEngine, ForcedEventNeedsNoArm) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  CompletionRecord record = CqBench::completion(cq);
  record.forceEvent = true;
  bench.engine->complete(record);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 1u);
  EXPECT_EQ(bench.query(cq).notification, NotificationState::kIdle);
}

TEST(CqEngine, SolicitedArmTakesErrorsAndMarkedReceivesAlone) {
  CqBench bench;
  const CqNumber cq = bench.create(bench.attributes(4));
  bench.arm(cq, 0, 0, true);
  bench.settle();
  CompletionRecord record = CqBench::completion(cq);
  record.solicited = true;
  bench.engine->complete(record);  // a send
  record.opcode = CqeOpcode::kResponderSend;
  record.solicited = false;
  bench.engine->complete(record);  // a plain receive
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 0u);
  record.opcode = CqeOpcode::kRequesterError;
  bench.engine->complete(record);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 1u);
  bench.arm(cq, 3, 1, true);
  bench.settle();
  record.opcode = CqeOpcode::kResponderWriteImmediate;
  record.solicited = true;
  bench.engine->complete(record);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 2u);
}

TEST(CqEngine, ArmOfAnUnknownQueueOrThroughAnotherPageIsCountedAndDropped) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.arm(CqNumber(0), 0);
  bench.arm(CqNumber(0xFFFFFF), 0);
  bench.armThrough(UarIndex(8), cq, 0);
  bench.settle();
  EXPECT_EQ(bench.engine->counters().armsUnknownCq, 2u);
  EXPECT_EQ(bench.engine->counters().armsWrongUar, 1u);
  EXPECT_EQ(bench.counters(cq).arms, 0u);
  bench.complete(cq);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 0u);
}

TEST(CqEngine, ProbesTellEntriesAndArms) {
  CqBench bench;
  std::vector<observe::CqEvent> seen;
  std::vector<observe::StageEvent> stages;
  bench.probes.cq.attach([&](const observe::CqEvent& e) { seen.push_back(e); });
  bench.probes.stage.attach([&](const observe::StageEvent& e) { stages.push_back(e); });
  const CqNumber cq = bench.createSmall();
  bench.arm(cq, 0, 2);
  bench.settle();
  CompletionRecord record = CqBench::completion(cq);
  record.request.index = 41;
  bench.engine->complete(record);
  const Time issued = bench.calendar.now();
  bench.settle();
  bench.arm(cq, 0, 2);
  bench.settle();
  using observe::CqAction;
  ASSERT_EQ(seen.size(), 5u);
  EXPECT_EQ(seen[0].action, CqAction::kArmArrived);
  EXPECT_EQ(seen[0].sequenceNumber, 2);
  EXPECT_EQ(seen[1].action, CqAction::kEventFired);
  EXPECT_EQ(seen[2].action, CqAction::kCqeVisible);
  EXPECT_EQ(seen[2].index, 0u);
  EXPECT_EQ(seen[2].time, seen[1].time + bench.dma.writeLatency) << "visible when it is in host memory";
  EXPECT_EQ(seen[3].action, CqAction::kArmArrived);
  EXPECT_EQ(seen[4].action, CqAction::kArmIgnored);
  EXPECT_EQ(bench.counters(cq).armsIgnored, 1u);
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].stage, observe::Stage::kCqeIssued);
  EXPECT_EQ(stages[0].time, issued);
  EXPECT_EQ(stages[1].stage, observe::Stage::kCqeVisible);
  EXPECT_EQ(stages[1].request.index, 41u);
}

TEST(CqEngine, ModeratedEventComesAtTheCount) {
  CqBench bench;
  CqAttributes wanted = bench.attributes(6);
  wanted.moderationCount = 16;
  wanted.moderationPeriod = 100;
  const CqNumber cq = bench.create(wanted);
  bench.arm(cq, 0);
  bench.settle();
  bench.complete(cq, 15);
  bench.runFor(microseconds(50));
  EXPECT_EQ(bench.completionEvents(), 0u);
  EXPECT_EQ(bench.dma.count(pcie::Traffic::kCqe), 15u) << "the entries themselves don't wait";
  bench.complete(cq);
  bench.runFor(microseconds(1));
  EXPECT_EQ(bench.completionEvents(), 1u);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 1u);
}

TEST(CqEngine, ModeratedEventComesAtThePeriod) {
  CqBench bench;
  CqAttributes wanted = bench.attributes(6);
  wanted.moderationCount = 16;
  wanted.moderationPeriod = 100;
  const CqNumber cq = bench.create(wanted);
  bench.arm(cq, 0);
  bench.settle();
  bench.complete(cq, 5);
  bench.settle();
  const Time first = bench.dma.of(pcie::Traffic::kCqe).front().time;
  ASSERT_EQ(bench.completionEvents(), 1u);
  EXPECT_EQ(bench.events.events.front().time, first + microseconds(100));
}

TEST(CqEngine, ModerationCountReachedWhileUnarmedReleasesTheArmAtOnce) {
  CqBench bench(ArmRule::kCiCompareOnce);
  CqAttributes wanted = bench.attributes(6);
  wanted.moderationCount = 4;
  const CqNumber cq = bench.create(wanted);
  bench.complete(cq, 4);
  bench.settle();
  bench.arm(cq, 0);
  bench.runFor(microseconds(1));
  EXPECT_EQ(bench.completionEvents(), 1u);
}

TEST(CqEngine, SwitchingModerationOffReleasesWhatWaits) {
  CqBench bench;
  CqAttributes wanted = bench.attributes(6);
  wanted.moderationCount = 16;
  const CqNumber cq = bench.create(wanted);
  bench.arm(cq, 0);
  bench.settle();
  bench.complete(cq, 5);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 0u) << "a count without a period waits for the count";
  CqModeration change;
  change.count = 0;
  EXPECT_TRUE(bench.engine->modifyModeration(cq, change).ok());
  EXPECT_EQ(bench.completionEvents(), 1u);
}

}  // namespace
}  // namespace hca::adapter

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

TEST(CqEngine, TimestampCountsItsClock) {
  CqBench bench;
  bench.config.timestampClock = Hertz(156'250'000);
  bench.build();
  const CqNumber cq = bench.createSmall();
  bench.runFor(nanoseconds(6400));
  bench.complete(cq);
  bench.settle();
  const auto write = bench.dma.of(pcie::Traffic::kCqe).front();
  EXPECT_EQ(wire::loadBigEndian<std::uint64_t>(&write.bytes[0x30]), 1006u) << "6440 ns of 6.4 ns each";
}

TEST(CqEngine, RealTimeStampHasSecondsAndNanoseconds) {
  CqBench bench;
  CqAttributes wanted = bench.attributes(2);
  wanted.timestampFormat = TimestampFormat::kRealTime;
  const CqNumber cq = bench.create(wanted);
  const auto stampAt = [&](Time when, std::size_t entry) {
    bench.calendar.runUntil(when - nanoseconds(40));  // to the hand-over
    bench.complete(cq);
    bench.settle();
    return wire::loadBigEndian<std::uint64_t>(&bench.dma.of(pcie::Traffic::kCqe)[entry].bytes[0x30]);
  };
  EXPECT_EQ(stampAt(Time(999'999'999'999), 0), 999'999'999U) << "the last nanosecond of the first second";
  EXPECT_EQ(stampAt(Time(2'000'000'000'000), 1), std::uint64_t{2} << 32);
  EXPECT_EQ(stampAt(Time(3'000'000'005'000), 2), std::uint64_t{3} << 32 | 5);
}

TEST(CqEngine, TimestampStartsAgainAtItsWidth) {
  CqBench bench;
  bench.config.timestampClock = Hertz(1'000'000'000);
  bench.config.timestampBits = 16;
  bench.config.timestampStart = 0xFFFF - 40;  // an entry is handed over 40 cycles after its completion
  bench.build();
  const CqNumber cq = bench.createSmall();
  const auto stamp = [&](std::size_t entry) {
    bench.complete(cq);
    bench.runFor(nanoseconds(41));
    return wire::loadBigEndian<std::uint64_t>(&bench.dma.of(pcie::Traffic::kCqe)[entry].bytes[0x30]);
  };
  EXPECT_EQ(stamp(0), 0xFFFFu);
  EXPECT_EQ(stamp(1), 40u) << "41 ns later";
  EXPECT_EQ(stamp(2), 81u);
}

TEST(CqEngine, RealTimeStampMayBeFlat) {
  CqBench bench;
  bench.config.realTimeFormat = RealTimeFormat::kNanoseconds;
  bench.config.realTimeStart = 1'700'000'000;
  bench.build();
  CqAttributes wanted = bench.attributes(2);
  wanted.timestampFormat = TimestampFormat::kRealTime;
  const CqNumber cq = bench.create(wanted);
  bench.complete(cq);
  bench.settle();
  EXPECT_EQ(wire::loadBigEndian<std::uint64_t>(&bench.dma.of(pcie::Traffic::kCqe)[0].bytes[0x30]),
            1'700'000'000'000'000'040U);
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

TEST(CqEngine, RealTimeStampsMayBeMissing) {
  CqBench bench;
  bench.config.realTimeStamps = false;
  bench.build();
  CqAttributes wanted = bench.attributes(2);
  wanted.timestampFormat = TimestampFormat::kRealTime;
  CqNumber number;
  EXPECT_EQ(bench.engine->create(wanted, number).syndrome, Syndrome::kCqFormatUnsupported);
}

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

TEST(CqEngine, ModifyChangesOnlyWhatIsSelected) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  CqModeration change;
  change.period = 4095;
  EXPECT_TRUE(bench.engine->modifyModeration(cq, change).ok());
  change.period.reset();
  change.count = 9;
  EXPECT_TRUE(bench.engine->modifyModeration(cq, change).ok());
  EXPECT_EQ(bench.query(cq).moderationPeriod, 4095);
  EXPECT_EQ(bench.query(cq).moderationCount, 9);
  change.period = 4096;
  change.count = 1;
  const CommandResult result = bench.engine->modifyModeration(cq, change);
  EXPECT_EQ(result.status, CommandStatus::kExceedLimit);
  EXPECT_EQ(result.syndrome, Syndrome::kCqModerationOutOfRange);
  EXPECT_EQ(bench.query(cq).moderationCount, 9) << "refused as a whole";
  EXPECT_EQ(bench.engine->modifyModeration(CqNumber(99), {}).syndrome, Syndrome::kUnknownCq);
}

TEST(CqEngine, WithoutModerationNothingButZeroIsTaken) {
  CqBench bench;
  bench.config.moderation = false;
  bench.build();
  const CqNumber cq = bench.create(bench.attributes(4));
  CqModeration change;
  change.period = change.count = 0;
  EXPECT_TRUE(bench.engine->modifyModeration(cq, change).ok());
  change.count = 1;
  EXPECT_EQ(bench.engine->modifyModeration(cq, change).syndrome, Syndrome::kCqModerationUnsupported);
  change.count.reset();
  change.period = 1;
  EXPECT_EQ(bench.engine->modifyModeration(cq, change).syndrome, Syndrome::kCqModerationUnsupported);
  CqAttributes attributes = bench.attributes(4);
  attributes.moderationCount = 1;
  CqNumber number;
  EXPECT_EQ(bench.engine->create(attributes, number).syndrome, Syndrome::kCqModerationUnsupported);
}

TEST(CqEngine, CreateRefusesEachBadFieldWithItsSyndrome) {
  CqBench bench;
  const auto refusal = [&](auto&& spoil) {
    CqAttributes wanted = bench.attributes(2);
    spoil(wanted);
    CqNumber number(12345);
    const CommandResult result = bench.engine->create(wanted, number);
    EXPECT_EQ(number, CqNumber(12345)) << "untouched by a refusal";
    return std::pair(result.status, result.syndrome);
  };
  const auto bad = [](Syndrome s) { return std::pair(CommandStatus::kBadParameter, s); };
  const auto compressed = [&](auto&& spoil) {
    return refusal([&spoil](auto& a) {
      a.compression = true;
      spoil(a);
    });
  };
  const auto unsupported = bad(Syndrome::kCqFormatUnsupported);
  EXPECT_EQ(compressed([](auto& a) { a.miniFormat = 2; }), unsupported);
  EXPECT_EQ(compressed([](auto& a) { a.miniFormatExtension = 1; }), unsupported);
  EXPECT_EQ(compressed([](auto& a) { a.compressionLayout = 2; }), unsupported);
  EXPECT_EQ(compressed([](auto& a) { a.stride = CqeStride::k128Padded; }), unsupported);
  EXPECT_EQ(compressed([](auto& a) { a.collapsed = true; }), unsupported) << "a session needs slots";
  EXPECT_EQ(refusal([](auto& a) { a.timestampFormat = static_cast<TimestampFormat>(3); }),
            bad(Syndrome::kCqFormatUnsupported));
  EXPECT_EQ(refusal([](auto& a) { a.stride = static_cast<CqeStride>(3); }), bad(Syndrome::kCqEntrySizeUnsupported));
  EXPECT_EQ(refusal([](auto& a) { a.logSize = 23; }),
            std::pair(CommandStatus::kExceedLimit, Syndrome::kCqSizeOutOfRange));
  EXPECT_EQ(refusal([](auto& a) { a.moderationPeriod = 4096; }),
            std::pair(CommandStatus::kExceedLimit, Syndrome::kCqModerationOutOfRange));
  EXPECT_EQ(refusal([](auto& a) { a.ring.pages.clear(); }), bad(Syndrome::kCqPagesWrong));
  EXPECT_EQ(refusal([](auto& a) { a.logSize = 7; }), bad(Syndrome::kCqPagesWrong)) << "one page holds 64";
  EXPECT_EQ(refusal([](auto& a) { a.ring.offset = 32; }), bad(Syndrome::kCqPagesWrong));
  EXPECT_EQ(refusal([](auto& a) { a.ring.offset = 4096; }), bad(Syndrome::kCqPagesWrong));
  EXPECT_EQ(refusal([](auto& a) { a.ring.pages[0] = BusAddress(0x20800); }), bad(Syndrome::kCqPagesWrong));
  EXPECT_EQ(refusal([](auto& a) { a.ring.logPageSize = 11; }), bad(Syndrome::kCqPagesWrong));
  EXPECT_EQ(refusal([](auto& a) { a.doorbellRecord = BusAddress(0x1004); }), bad(Syndrome::kCqDoorbellRecordBad));
  EXPECT_EQ(refusal([](auto& a) { a.eq = EqNumber(9); }),
            std::pair(CommandStatus::kBadResource, Syndrome::kCqEqUnknown));
  EXPECT_EQ(bench.events.holders[1], 0) << "nothing is held after a refusal";
}

TEST(CqEngine, ShortEntriesAreThereOnDemandAlone) {
  CqBench bench;
  CqNumber number;
  EXPECT_EQ(bench.engine->create(bench.attributes(2, CqeStride::k32), number).syndrome,
            Syndrome::kCqEntrySizeUnsupported);
  bench.config.shortEntries = true;
  bench.build();
  CqAttributes compressed = bench.attributes(2, CqeStride::k32);
  compressed.compression = true;
  EXPECT_EQ(bench.engine->create(compressed, number).syndrome, Syndrome::kCqFormatUnsupported);
  const CqAttributes wanted = bench.attributes(2, CqeStride::k32);
  const CqNumber cq = bench.create(wanted);
  bench.complete(cq, 2);
  bench.settle();
  const auto writes = bench.dma.of(pcie::Traffic::kCqe);
  ASSERT_EQ(writes.size(), 2u);
  EXPECT_EQ(writes[1].address, wanted.ring.pages[0].value() + 32);
  EXPECT_EQ(writes[1].bytes.size(), 32u);
}

TEST(CqEngine, TableHasALimit) {
  CqBench bench;
  bench.config.logMaxCqs = 1;
  bench.build();
  bench.createSmall();
  CqNumber number;
  const CommandResult result = bench.engine->create(bench.attributes(2), number);
  EXPECT_EQ(result.status, CommandStatus::kNoResources);
  EXPECT_EQ(result.syndrome, Syndrome::kCqLimit);
  EXPECT_EQ(bench.events.holders[1], 1);
}

TEST(CqEngine, DestroyIsRefusedWhileAttached) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  ASSERT_TRUE(bench.engine->attach(cq).ok());
  ASSERT_TRUE(bench.engine->attach(cq).ok());
  bench.engine->detach(cq);
  EXPECT_EQ(bench.engine->destroy(cq).status, CommandStatus::kResourceBusy);
  EXPECT_EQ(bench.engine->destroy(cq).syndrome, Syndrome::kCqInUse);
  bench.engine->detach(cq);
  EXPECT_EQ(bench.events.holders[1], 1) << "the event queue is held";
  EXPECT_TRUE(bench.engine->destroy(cq).ok());
  EXPECT_EQ(bench.events.holders[1], 0);
  EXPECT_EQ(bench.engine->destroy(cq).status, CommandStatus::kBadResource);
  CqAttributes present;
  EXPECT_EQ(bench.engine->query(cq, present).syndrome, Syndrome::kUnknownCq);
  EXPECT_EQ(bench.engine->attach(cq).syndrome, Syndrome::kUnknownCq);
}

TEST(CqEngine, CompletionForADestroyedQueueIsDroppedAndFailsItsQueuePair) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.complete(cq, 1, 77);
  ASSERT_TRUE(bench.engine->destroy(cq).ok());
  bench.settle();
  EXPECT_TRUE(bench.dma.log.empty());
  EXPECT_EQ(bench.engine->counters().completionsUnknownCq, 1u);
  EXPECT_EQ(bench.failures.qps, std::vector<std::uint32_t>{77});
}

TEST(CqEngine, QueryShowsTheIndices) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.arm(cq, 0);
  bench.settle();
  CompletionRecord record = CqBench::completion(cq);
  record.opcode = CqeOpcode::kResponderSend;
  record.solicited = true;
  bench.engine->complete(record);
  record.solicited = false;
  bench.engine->complete(record);
  bench.settle();
  const CqAttributes present = bench.query(cq);
  EXPECT_EQ(present.status, CqStatus::kOk);
  EXPECT_EQ(present.producerCounter, 2u);
  EXPECT_EQ(present.consumerCounter, 0u);
  EXPECT_EQ(present.lastNotifiedIndex, 1u);
  EXPECT_EQ(present.lastSolicitedIndex, 1u);
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

TEST(CqEngine, ResetForgetsEverything) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.complete(cq, 1);
  bench.settle();
  bench.complete(cq, 2);
  bench.arm(cq, 0);
  bench.engine->reset();
  bench.settle();
  EXPECT_EQ(bench.dma.count(pcie::Traffic::kCqe), 1u);
  EXPECT_TRUE(bench.events.events.empty());
  EXPECT_TRUE(bench.failures.qps.empty());
  EXPECT_EQ(bench.createSmall(), cq) << "as after power-on";
  const auto summaries = bench.engine->summaries();
  ASSERT_EQ(summaries.size(), 2u) << "results outlive the reset";
  EXPECT_EQ(summaries[0].counters.cqes, 1u);
  EXPECT_EQ(summaries[1].counters.cqes, 0u);
}

TEST(CqEngine, SummariesKeepDestroyedQueuesThatWereUsed) {
  CqBench bench;
  const CqNumber used = bench.create(bench.attributes(3, CqeStride::k128));
  const CqNumber unused = bench.createSmall();
  bench.complete(used, 2);
  bench.settle();
  ASSERT_TRUE(bench.engine->destroy(used).ok());
  ASSERT_TRUE(bench.engine->destroy(unused).ok());
  const auto summaries = bench.engine->summaries();
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_EQ(summaries[0].number, used);
  EXPECT_EQ(summaries[0].entries, 8u);
  EXPECT_EQ(summaries[0].entryBytes, 128u);
  EXPECT_EQ(summaries[0].counters.cqes, 2u);
  EXPECT_EQ(summaries[0].counters.highWater, 2u);
}

}  // namespace
}  // namespace hca::adapter

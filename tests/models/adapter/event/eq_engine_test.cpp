#include "models/adapter/event/eq_engine.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/models/adapter/event/eq_bench.h"

namespace hca::adapter {
namespace {

using test::EqBench;
using Kind = hca::test::FakeDmaPort::Operation::Kind;

TEST(EqEngine, EntryAndMessageAtTheirCycleAndNotBefore) {
  EqBench bench;
  bench.config.eqeBuildCycles = Cycles(4);
  bench.config.eqeWriteCycles = Cycles(36);
  bench.build();
  const EqNumber eq = bench.create(bench.attributes(3, 9));
  bench.arm(eq, 0);
  const Time start = bench.calendar.now();
  bench.raise(eq);
  bench.calendar.runUntil(start + nanoseconds(39));
  EXPECT_TRUE(bench.dma.log.empty());
  bench.calendar.runUntil(start + nanoseconds(40));
  ASSERT_EQ(bench.dma.log.size(), 2u);
  EXPECT_EQ(bench.dma.log[0].kind, Kind::kWrite);
  EXPECT_EQ(bench.dma.log[0].traffic, pcie::Traffic::kEqe);
  EXPECT_FALSE(bench.dma.log[0].relaxedOrdering);
  EXPECT_FALSE(bench.dma.log[0].notify);
  EXPECT_EQ(bench.dma.log[1].kind, Kind::kMessage) << "behind the entry";
  EXPECT_EQ(bench.dma.log[1].address, EqBench::address(9));
  EXPECT_EQ(bench.dma.log[1].data, 0x49u);
}

TEST(EqEngine, OneCalendarEntryForAnEventAndItsMessage) {
  EqBench bench;
  const EqNumber eq = bench.create(bench.attributes(3));
  bench.arm(eq, 0);
  bench.raise(eq);
  bench.calendar.step();
  EXPECT_EQ(bench.messages(), 1u);
}

TEST(EqEngine, EntriesFillTheRingAndFlipTheOwnerBit) {
  EqBench bench;
  const EqNumber eq = bench.create(bench.attributes(2));
  for (std::uint32_t i = 0; i < 11; ++i) {
    bench.doorbell(eq, i, false);
    bench.raise(eq, 1, i);
    bench.settle();
  }
  const auto writes = bench.dma.of(pcie::Traffic::kEqe);
  ASSERT_EQ(writes.size(), 11u);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    EXPECT_EQ(writes[i].address, 0x10000 + i % 4 * 64);
    EXPECT_EQ(writes[i].bytes[63], i / 4 % 2) << "entry " << i;
    EXPECT_EQ(writes[i].bytes[0x3B], i);
  }
}

TEST(EqEngine, NewQueueRaisesNothingUntilItIsArmed) {
  EqBench bench;
  const EqNumber eq = bench.create(bench.attributes(3));
  EXPECT_EQ(bench.query(eq).state, EqState::kIdle);
  bench.raise(eq, 2);
  bench.settle();
  EXPECT_EQ(bench.entries(), 2u);
  EXPECT_EQ(bench.messages(), 0u);
  bench.arm(eq, 0);
  EXPECT_EQ(bench.messages(), 1u) << "entries pending: at once";
}

TEST(EqEngine, OneMessageAnArm) {
  EqBench bench;
  const EqNumber eq = bench.create(bench.attributes(4));
  bench.arm(eq, 0);
  EXPECT_EQ(bench.query(eq).state, EqState::kArmed);
  bench.raise(eq, 5);
  bench.settle();
  EXPECT_EQ(bench.entries(), 5u);
  EXPECT_EQ(bench.messages(), 1u);
  EXPECT_EQ(bench.query(eq).state, EqState::kFired);
  bench.arm(eq, 5);
  EXPECT_EQ(bench.messages(), 1u) << "nothing pending";
  bench.raise(eq);
  bench.settle();
  EXPECT_EQ(bench.messages(), 2u);
}

TEST(EqEngine, UpdateOfTheConsumerIndexDoesNotArm) {
  EqBench bench;
  const EqNumber eq = bench.create(bench.attributes(4));
  bench.raise(eq, 3);
  bench.settle();
  bench.doorbell(eq, 2, false);
  bench.settle();
  EXPECT_EQ(bench.query(eq).consumerCounter, 2u);
  EXPECT_EQ(bench.messages(), 0u);
}

// The handler reads until empty, then arms, without another look: the adapter must not lose an entry of the gap.
TEST(EqEngine, ArmAndEntryRaceNeverLosesAWakeUp) {
  for (std::int64_t armAt = 15; armAt <= 25; ++armAt) {
    EqBench bench;
    bench.config.eqeBuildCycles = Cycles(0);
    bench.config.eqeWriteCycles = Cycles(40);
    bench.config.armLatencyCycles = Cycles(20);
    bench.build();
    const EqNumber eq = bench.create(bench.attributes(3));
    bench.raise(eq);  // written at 40 ns
    bench.calendar.runUntil(nanoseconds(armAt));
    bench.doorbell(eq, 0, true);
    bench.settle();
    EXPECT_EQ(bench.messages(), 1u) << "armed at " << armAt;
  }
}

TEST(EqEngine, ArmTakesEffectAfterItsLatency) {
  EqBench bench;
  bench.config.armLatencyCycles = Cycles(20);
  bench.build();
  const EqNumber eq = bench.create(bench.attributes(3));
  bench.raise(eq);
  bench.settle();
  const Time start = bench.calendar.now();
  bench.doorbell(eq, 0, true);
  bench.calendar.runUntil(start + nanoseconds(19));
  EXPECT_EQ(bench.messages(), 0u);
  bench.calendar.runUntil(start + nanoseconds(20));
  EXPECT_EQ(bench.messages(), 1u);
}

TEST(EqEngine, FullQueueLosesTheEventAndSaysSo) {
  EqBench bench;
  struct Health final : HealthSink {
    void onHealthProblem(HealthSyndrome syndrome) override { seen.push_back(syndrome); }
    std::vector<HealthSyndrome> seen;
  } health;
  bench.engine->setHealthSink(health);
  const EqNumber eq = bench.create(bench.attributes(2));
  bench.raise(eq, 4);
  bench.settle();
  EXPECT_TRUE(health.seen.empty());
  bench.raise(eq);
  bench.settle();
  EXPECT_EQ(bench.entries(), 4u);
  EXPECT_EQ(bench.engine->find(eq)->counters.overflows, 1u);
  EXPECT_EQ(health.seen, std::vector<HealthSyndrome>{HealthSyndrome::kEqOverrun});
  EXPECT_EQ(static_cast<int>(bench.engine->healthSyndrome()), 0xC);
  bench.doorbell(eq, 1, false);
  bench.settle();
  bench.raise(eq);
  bench.settle();
  EXPECT_EQ(bench.entries(), 5u) << "room again";
}

TEST(EqEngine, FullQueueThatIgnoresOverrunIsOverwritten) {
  EqBench bench;
  EqAttributes wanted = bench.attributes(2);
  wanted.ignoreOverrun = true;
  const EqNumber eq = bench.create(wanted);
  bench.raise(eq, 6);
  bench.settle();
  EXPECT_EQ(bench.entries(), 6u);
  EXPECT_EQ(bench.engine->healthSyndrome(), HealthSyndrome::kNone);
}

TEST(EqEngine, AsynchronousEventsGoWhereTheBitmapSays) {
  EqBench bench;
  std::vector<observe::AsyncEvent> told;
  bench.probes.async.attach([&](const observe::AsyncEvent& e) { told.push_back(e); });
  EqAttributes commands = bench.attributes(3, 1);
  commands.eventBitmap[0] = std::uint64_t{1} << 0x0A;
  EqAttributes others = bench.attributes(3, 2);
  others.eventBitmap[0] = std::uint64_t{1} << 0x04 | std::uint64_t{1} << 0x09;
  bench.create(commands);
  bench.create(others);
  EXPECT_TRUE(bench.engine->accepts(EventType::kCommand));
  EXPECT_FALSE(bench.engine->accepts(EventType::kPageRequest));
  EventRecord event;
  event.type = EventType::kCqError;
  event.object = 0x123;
  event.syndrome = 1;
  bench.engine->raise(event);
  event = {};
  event.type = EventType::kCommand;
  event.value = 4;
  bench.engine->raise(event);
  event.type = EventType::kSrqLimit;
  bench.engine->raise(event);
  bench.settle();
  const auto writes = bench.dma.of(pcie::Traffic::kEqe);
  ASSERT_EQ(writes.size(), 2u);
  EXPECT_EQ(writes[0].address, 0x11000u);
  EXPECT_EQ(writes[0].bytes[1], 0x04);
  EXPECT_EQ(writes[1].address, 0x10000u);
  EXPECT_EQ(writes[1].bytes[1], 0x0A);
  EXPECT_EQ(bench.engine->counters().unclaimed, 1u);
  ASSERT_EQ(told.size(), 2u) << "a command's end is no asynchronous event";
  EXPECT_EQ(told[0].object, 0x123u);
  EXPECT_EQ(told[0].syndrome, 1);
  EXPECT_EQ(told[0].host, HostIndex(3));
  EXPECT_EQ(told[1].type, 0x14);
}

TEST(EqEngine, VectorsSteer) {
  EqBench bench;
  const EqNumber one = bench.create(bench.attributes(3, 1));
  const EqNumber two = bench.create(bench.attributes(3, 2));
  bench.arm(one, 0);
  bench.arm(two, 0);
  bench.raise(two);
  bench.settle();
  const auto messages = bench.dma.of(pcie::Traffic::kInterrupt);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].address, EqBench::address(2));
  EXPECT_EQ(bench.vectors->messages(InterruptVector(2)), 1u);
  EXPECT_EQ(bench.vectors->messages(InterruptVector(1)), 0u);
}

TEST(EqEngine, BadDoorbellsAreCountedAndDropped) {
  EqBench bench;
  const EqNumber eq = bench.create(bench.attributes(3));
  bench.raise(eq, 2);
  bench.settle();
  bench.doorbell(EqNumber(200), 0, true);
  bench.doorbell(eq, 0, true, UarIndex(8));
  bench.doorbell(eq, 3, true);
  bench.settle();
  EXPECT_EQ(bench.engine->counters().doorbellsUnknownEq, 1u);
  EXPECT_EQ(bench.engine->counters().doorbellsWrongUar, 1u);
  EXPECT_EQ(bench.engine->counters().doorbellsNonsense, 1u);
  EXPECT_EQ(bench.messages(), 0u);
  EXPECT_EQ(bench.query(eq).state, EqState::kIdle);
}

TEST(EqEngine, OlderConsumerIndexDoesNotMoveBack) {
  EqBench bench;
  const EqNumber eq = bench.create(bench.attributes(3));
  bench.raise(eq, 4);
  bench.settle();
  bench.doorbell(eq, 4, false);
  bench.arm(eq, 2);
  EXPECT_EQ(bench.query(eq).consumerCounter, 4u);
  EXPECT_EQ(bench.messages(), 0u);
}

TEST(EqEngine, CreateRefusesEachBadFieldWithItsSyndrome) {
  EqBench bench;
  const auto refusal = [&](auto&& spoil) {
    EqAttributes wanted = bench.attributes(3);
    spoil(wanted);
    EqNumber number(77);
    const CommandResult result = bench.engine->create(wanted, number);
    EXPECT_EQ(number, EqNumber(77));
    return std::pair(result.status, result.syndrome);
  };
  EXPECT_EQ(refusal([](auto& a) { a.logSize = 19; }),
            std::pair(CommandStatus::kExceedLimit, Syndrome::kEqSizeOutOfRange));
  EXPECT_EQ(refusal([](auto& a) { a.vector = InterruptVector(64); }),
            std::pair(CommandStatus::kBadParameter, Syndrome::kEqVectorOutOfRange));
  EXPECT_EQ(refusal([](auto& a) { a.ring.pages.clear(); }),
            std::pair(CommandStatus::kBadParameter, Syndrome::kEqPagesWrong));
  EXPECT_EQ(refusal([](auto& a) { a.logSize = 7; }), std::pair(CommandStatus::kBadParameter, Syndrome::kEqPagesWrong));
}

TEST(EqEngine, TableHasALimit) {
  EqBench bench;
  bench.config.maxEqs = 1;
  bench.build();
  bench.create(bench.attributes(3));
  EqNumber number;
  const CommandResult result = bench.engine->create(bench.attributes(3), number);
  EXPECT_EQ(result.status, CommandStatus::kNoResources);
  EXPECT_EQ(result.syndrome, Syndrome::kEqLimit);
}

TEST(EqEngine, DestroyIsRefusedWhileAttached) {
  EqBench bench;
  const EqNumber eq = bench.create(bench.attributes(3));
  ASSERT_TRUE(bench.engine->attach(eq).ok());
  EXPECT_EQ(bench.engine->destroy(eq).status, CommandStatus::kResourceBusy);
  EXPECT_EQ(bench.engine->destroy(eq).syndrome, Syndrome::kEqInUse);
  bench.engine->detach(eq);
  bench.raise(eq);
  EXPECT_TRUE(bench.engine->destroy(eq).ok());
  bench.raise(eq);
  bench.settle();
  EXPECT_EQ(bench.entries(), 0u);
  EXPECT_EQ(bench.engine->counters().queueGone, 2u);
  EXPECT_EQ(bench.engine->destroy(eq).syndrome, Syndrome::kUnknownEq);
  EXPECT_EQ(bench.engine->attach(eq).syndrome, Syndrome::kUnknownEq);
}

TEST(EqEngine, EventOfADestroyedQueueDoesNotReachItsSuccessor) {
  EqBench bench;
  bench.config.maxEqs = 1;  // one number: it is used again at once
  bench.build();
  const EqNumber eq = bench.create(bench.attributes(3));
  bench.raise(eq);
  ASSERT_TRUE(bench.engine->destroy(eq).ok());
  ASSERT_EQ(bench.create(bench.attributes(3)), eq);
  bench.settle();
  EXPECT_EQ(bench.entries(), 0u);
  EXPECT_EQ(bench.engine->counters().queueGone, 1u);
}

TEST(EqEngine, FailedWriteStopsTheQueue) {
  EqBench bench;
  const EqNumber eq = bench.create(bench.attributes(3));
  bench.dma.broken.insert(0x10000);
  bench.raise(eq);
  bench.settle();
  EXPECT_EQ(bench.query(eq).status, EqStatus::kWriteFailed);
  EXPECT_EQ(bench.engine->healthSyndrome(), HealthSyndrome::kEqError);
  bench.raise(eq);
  bench.settle();
  EXPECT_EQ(bench.entries(), 1u);
}

TEST(EqEngine, ResetForgetsEverything) {
  EqBench bench;
  const EqNumber eq = bench.create(bench.attributes(3));
  bench.raise(eq);
  bench.engine->reset();
  bench.settle();
  EXPECT_EQ(bench.entries(), 0u);
  EXPECT_EQ(bench.create(bench.attributes(3)), eq);
}

// A handler that is called by messages alone, reads until empty, then arms, in a random schedule: it sees every event.
TEST(EqEngine, RandomScheduleLosesNoEvent) {
  EqBench bench;
  bench.dma.keepLog = false;
  const EqNumber eq = bench.create(bench.attributes(8));
  std::mt19937_64 random(11);
  std::uint64_t raised = 0;
  std::uint64_t consumed = 0;
  std::uint64_t handled = 0;
  bench.doorbell(eq, 0, true);
  const auto nextIsSoftware = [&](std::uint64_t index) {
    const std::uint8_t owner = bench.dma.memory[0x10000 + index % 256 * 64 + 63];
    return owner == (index / 256 & 1);
  };
  for (std::size_t i = 0; i < 256; ++i) bench.dma.memory[0x10000 + i * 64 + 63] = 1;
  for (int step = 0; step < 100'000; ++step) {
    if (random() % 3 == 0 && raised - consumed < 200) {
      bench.raise(eq);
      ++raised;
    }
    bench.calendar.runUntil(bench.calendar.now() + nanoseconds(static_cast<std::int64_t>(random() % 60)));
    if (bench.messages() == handled) continue;
    handled = bench.messages();
    while (nextIsSoftware(consumed)) ++consumed;
    bench.doorbell(eq, consumed, true);
  }
  while (bench.calendar.next() != kForever || bench.messages() != handled) {
    bench.settle();
    handled = bench.messages();
    while (nextIsSoftware(consumed)) ++consumed;
    bench.doorbell(eq, consumed, true);
    if (consumed == raised) break;
  }
  EXPECT_GT(raised, 20'000u);
  EXPECT_EQ(consumed, raised);
  EXPECT_GT(handled, 1'000u);
}

TEST(EqEngine, AnOverflowThatWasAskedForLosesTheNextEvents) {
  EqBench bench;
  const EqNumber eq = bench.create(bench.attributes(2));
  std::vector<EventType> lost;
  bench.engine->overflow({eq, {1, 1}, [&](EventType type) { lost.push_back(type); }});
  bench.raise(eq, 3);
  bench.settle();
  EXPECT_EQ(bench.entries(), 2u);
  EXPECT_EQ(lost, std::vector<EventType>{EventType::kCompletion});
  EXPECT_EQ(bench.engine->find(eq)->counters.overflows, 1u);
  EXPECT_EQ(bench.engine->healthSyndrome(), HealthSyndrome::kEqOverrun);
}

}  // namespace
}  // namespace hca::adapter

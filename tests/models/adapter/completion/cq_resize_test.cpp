// A completion queue gets another ring.
#include <gtest/gtest.h>

#include "tests/models/adapter/completion/cq_bench.h"

namespace hca::adapter {
namespace {

using test::CqBench;

class Resize : public CqBench {
 public:
  using CqBench::CqBench;

  void refresh(CqNumber cq) {
    bool ready = false;
    engine->refreshConsumerIndex(cq, [&] { ready = true; });
    settle();
    EXPECT_TRUE(ready);
  }
  CommandResult resize(CqNumber cq, const CqAttributes& to) {
    refresh(cq);
    const CommandResult result = engine->resize(cq, {to.stride, to.logSize, to.ring});
    settle();
    return result;
  }
  [[nodiscard]] std::uint8_t opOwn(const CqAttributes& ring, std::uint64_t slot) {
    return dma.memory[ring.ring.address(slot * strideBytes(ring.stride)).value() + strideBytes(ring.stride) - 1];
  }
  [[nodiscard]] wire::CqeOpcode opcode(const CqAttributes& ring, std::uint64_t slot) {
    return wire::OpOwn::Opcode::get(opOwn(ring, slot));
  }
  [[nodiscard]] bool owner(const CqAttributes& ring, std::uint64_t slot) {
    return wire::OpOwn::Owner::get(opOwn(ring, slot));
  }
};

TEST(CqResize, EntryEndsTheOldRingAndTheNextOneIsInTheNewRing) {
  Resize bench;
  const CqAttributes small = bench.attributes(2);
  const CqAttributes large = bench.attributes(3);
  const CqNumber cq = bench.create(small);
  bench.complete(cq, 3);
  bench.settle();
  bench.setConsumerIndex(cq, 3);
  bench.complete(cq, 2);
  bench.settle();
  ASSERT_TRUE(bench.resize(cq, large).ok());
  EXPECT_EQ(bench.opcode(small, 1), wire::CqeOpcode::kResize) << "index 5";
  EXPECT_TRUE(bench.owner(small, 1)) << "second pass of the old ring";
  bench.complete(cq, 3);
  bench.settle();
  EXPECT_EQ(bench.opcode(large, 6), wire::CqeOpcode::kRequester);
  EXPECT_FALSE(bench.owner(large, 7)) << "first pass of the new ring";
  EXPECT_TRUE(bench.owner(large, 0)) << "index 8";
  EXPECT_EQ(bench.query(cq).logSize, 3);
  EXPECT_EQ(bench.query(cq).producerCounter, 9U);
  EXPECT_EQ(bench.counters(cq).cqes, 8U) << "the resize entry is no completion";
  EXPECT_EQ(bench.counters(cq).resizes, 1U);
}

TEST(CqResize, WideEntriesToo) {
  Resize bench;
  const CqAttributes from = bench.attributes(1, CqeStride::k128);
  const CqAttributes to = bench.attributes(4, CqeStride::k128);
  const CqNumber cq = bench.create(from);
  bench.complete(cq, 1);
  bench.settle();
  ASSERT_TRUE(bench.resize(cq, to).ok());
  EXPECT_EQ(bench.opcode(from, 1), wire::CqeOpcode::kResize);
}

TEST(CqResize, NeedsASlotInTheOldRing) {
  Resize bench;
  const CqAttributes from = bench.attributes(2);
  const CqAttributes to = bench.attributes(3);
  const CqNumber cq = bench.create(from);
  bench.complete(cq, 4);
  bench.settle();
  const CommandResult full = bench.resize(cq, to);
  EXPECT_EQ(full.status, CommandStatus::kBadResourceState);
  EXPECT_EQ(full.syndrome, Syndrome::kCqNoSlotForResize);
  EXPECT_EQ(bench.query(cq).logSize, 2);
  EXPECT_EQ(bench.dma.count(pcie::Traffic::kCqe), 4U);
  bench.setConsumerIndex(cq, 1);
  EXPECT_TRUE(bench.resize(cq, to).ok()) << "the record is read again";
  EXPECT_EQ(bench.opcode(from, 0), wire::CqeOpcode::kResize);
}

TEST(CqResize, NewRingHoldsWhatIsUnreadAndNotOneLess) {
  Resize bench;
  const CqAttributes from = bench.attributes(4);
  const CqAttributes to = bench.attributes(2);
  const CqNumber cq = bench.create(from);
  bench.complete(cq, 5);
  bench.settle();
  const CommandResult refused = bench.resize(cq, to);
  EXPECT_EQ(refused.status, CommandStatus::kBadSize);
  EXPECT_EQ(refused.syndrome, Syndrome::kCqTooSmallForEntries);
  bench.setConsumerIndex(cq, 1);
  ASSERT_TRUE(bench.resize(cq, to).ok());
  // Four entries fill it, and the resize entry takes no room: the next one fits once one more is read.
  bench.setConsumerIndex(cq, 3);
  bench.complete(cq, 1);
  bench.settle();
  EXPECT_EQ(bench.query(cq).status, CqStatus::kOk);
  EXPECT_EQ(bench.opcode(to, 6 & 3), wire::CqeOpcode::kRequester);
}

TEST(CqResize, EntryTooManyInTheNewRingIsAnOverrun) {
  Resize bench;
  const CqNumber cq = bench.create(bench.attributes(4));
  bench.complete(cq, 4);
  bench.settle();
  ASSERT_TRUE(bench.resize(cq, bench.attributes(2)).ok());
  bench.complete(cq, 1);
  bench.settle();
  EXPECT_EQ(bench.query(cq).status, CqStatus::kOverflow);
}

TEST(CqResize, LastFreeSlotOfTheNewRingIsUsableBeforeSoftwareTellsItsIndex) {
  Resize bench;
  const CqNumber cq = bench.create(bench.attributes(4));
  bench.complete(cq, 3);
  bench.settle();
  ASSERT_TRUE(bench.resize(cq, bench.attributes(2)).ok());
  bench.complete(cq, 1);
  bench.settle();
  EXPECT_EQ(bench.query(cq).status, CqStatus::kOk);
}

TEST(CqResize, ComesBehindCompletionsThatWaitForTheRecord) {
  Resize bench;
  const CqAttributes from = bench.attributes(2);
  const CqAttributes to = bench.attributes(3);
  const CqNumber cq = bench.create(from);
  bench.complete(cq, 4);
  bench.settle();
  bench.setConsumerIndex(cq, 4);
  bench.complete(cq, 2);
  ASSERT_TRUE(bench.resize(cq, to).ok());
  EXPECT_EQ(bench.opcode(from, 0), wire::CqeOpcode::kRequester);
  EXPECT_EQ(bench.opcode(from, 1), wire::CqeOpcode::kRequester);
  EXPECT_EQ(bench.opcode(from, 2), wire::CqeOpcode::kResize);
}

class ResizeRule : public testing::TestWithParam<ArmRule> {};
INSTANTIATE_TEST_SUITE_P(Rules, ResizeRule,
                         testing::Values(ArmRule::kIbSpec, ArmRule::kCiCompare, ArmRule::kCiCompareOnce,
                                         ArmRule::kCiCompareStaleLoses));

TEST_P(ResizeRule, ArmSurvivesAndTheEntryRaisesNothing) {
  Resize bench(GetParam());
  const CqNumber cq = bench.create(bench.attributes(2));
  bench.arm(cq, 0);
  ASSERT_TRUE(bench.resize(cq, bench.attributes(4)).ok());
  EXPECT_EQ(bench.completionEvents(), 0U);
  EXPECT_EQ(bench.query(cq).notification, NotificationState::kArmed);
  bench.complete(cq, 1);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 1U);
}

TEST_P(ResizeRule, ResizedAndReadQueueOwesAnArmNothing) {
  Resize bench(GetParam());
  const CqNumber cq = bench.create(bench.attributes(2));
  bench.arm(cq, 0);
  bench.complete(cq, 2);
  bench.settle();
  ASSERT_EQ(bench.completionEvents(), 1U);
  ASSERT_TRUE(bench.resize(cq, bench.attributes(4)).ok());
  bench.arm(cq, 3, 1);
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 1U);
}

TEST(CqResize, EntriesThatRaisedAnEventDontRaiseAnother) {
  Resize bench(ArmRule::kCiCompareOnce);
  const CqNumber cq = bench.create(bench.attributes(2));
  bench.arm(cq, 0);
  bench.complete(cq, 1);
  bench.settle();
  ASSERT_TRUE(bench.resize(cq, bench.attributes(4)).ok());
  bench.arm(cq, 1, 1);  // the entry, now with index 1, is unread
  bench.settle();
  EXPECT_EQ(bench.completionEvents(), 1U);
}

TEST(CqResize, RefusesWhatACreateWouldRefuse) {
  Resize bench;
  const CqNumber cq = bench.create(bench.attributes(2));
  CqAttributes pages = bench.attributes(8);
  pages.ring.pages.pop_back();
  EXPECT_EQ(bench.resize(cq, pages).syndrome, Syndrome::kCqPagesWrong);
  EXPECT_EQ(bench.resize(cq, bench.attributes(3, CqeStride::k128)).syndrome, Syndrome::kCqEntrySizeUnsupported);
  CqAttributes huge = bench.attributes(2);
  huge.logSize = 30;
  EXPECT_EQ(bench.resize(cq, huge).syndrome, Syndrome::kCqSizeOutOfRange);
  EXPECT_EQ(bench.resize(CqNumber(999), bench.attributes(3)).syndrome, Syndrome::kUnknownCq);
  EXPECT_EQ(bench.counters(cq).resizes, 0U);
}

TEST(CqResize, QueueInErrorIsRefused) {
  Resize bench;
  const CqNumber cq = bench.create(bench.attributes(2));
  bench.complete(cq, 5);
  bench.settle();
  EXPECT_EQ(bench.resize(cq, bench.attributes(3)).syndrome, Syndrome::kCqInError);
}

}  // namespace
}  // namespace hca::adapter

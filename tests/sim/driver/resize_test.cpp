// Completion queues that change their size, through the driver role.
#include <gtest/gtest.h>

#include <random>

#include "tests/sim/driver/verbs_pair.h"

namespace hca::test {
namespace {

using driver::CqResized;
using driver::SendOpcode;
using driver::VerbsError;

/// The right side's queue gets numbered messages and is resized.
class Resizing : public VerbsPair {
 public:
  explicit Resizing(std::int32_t depth, const std::function<void(config::Config&)>& change = {})
      : VerbsPair(change, 4000, depth) {}

  /// Messages whose receives are numbered on.
  void start(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      right.postReceive(pair.right.handle, sent_++);
      left.post(pair.left.handle, left.request(SendOpcode::kSend, 0));
    }
  }
  void deliver(std::size_t count) {
    start(count);
    settle();
    left.poll(leftCq.handle);
  }
  CqResized resize(std::int32_t depth) {
    return right.await<CqResized>([&](auto done) { right.client().resizeCq(rightCq.handle, depth, done); });
  }
  /// Takes what is there; every message must come once and in order.
  std::size_t take(std::size_t max = 1024) {
    const auto completions = right.poll(rightCq.handle, max);
    for (const driver::WorkCompletion& completion : completions) {
      EXPECT_EQ(completion.status, driver::WcStatus::kSuccess);
      EXPECT_EQ(completion.workRequestId, taken_++);
    }
    return completions.size();
  }
  /// Lets the time of the threads' calls pass, which otherwise adds up until their next step.
  void passCost() {
    for (BlockingThread* thread : {&left, &right}) {
      thread->await<bool>([&](auto done) { thread->client().afterCost([done] { done(true); }); });
    }
  }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  [[nodiscard]] std::uint64_t taken() const { return taken_; }
  [[nodiscard]] adapter::CqCounters counters() { return VerbsPair::counters(1, rightCq.number); }
  [[nodiscard]] std::uint64_t refusals(adapter::Syndrome why) {
    const auto& all = hosts.system().host(1).adapter().hca().command().refusals();
    const auto found = all.find(why);
    return found == all.end() ? 0 : found->second;
  }

 private:
  std::uint64_t sent_ = 0;
  std::uint64_t taken_ = 0;
};

TEST(Resize, DepthIsRoundedUpAndReadBack) {
  Resizing verbs(7);
  const CqResized resized = verbs.resize(100);
  EXPECT_EQ(resized.error, VerbsError::kNone);
  EXPECT_EQ(resized.cqe, 127U);
  EXPECT_EQ(verbs.counters().resizes, 1U);
}

TEST(Resize, SameRoundedDepthIsANoOp) {
  Resizing verbs(7);
  const CqResized resized = verbs.resize(5);
  EXPECT_EQ(resized.error, VerbsError::kNone);
  EXPECT_EQ(resized.cqe, 7U);
  EXPECT_EQ(verbs.counters().resizes, 0U);
}

TEST(Resize, NonsenseIsRefused) {
  Resizing verbs(7);
  for (const std::int32_t depth : {-1, 0, 0x7FFFFFFF}) EXPECT_EQ(verbs.resize(depth).error, VerbsError::kInvalid);
}

TEST(Resize, NothingIsLostRepeatedOrReorderedWhereverTheRingWraps) {
  Resizing verbs(7);
  std::int32_t depths[] = {15, 7, 31, 7, 63, 15, 255, 7};
  for (std::size_t round = 0; round < 48; ++round) {
    SCOPED_TRACE(round);
    const std::size_t unread = round % 8;  // 7 is all but the slot of the resize entry
    verbs.deliver(unread);
    ASSERT_EQ(verbs.resize(depths[round % 8]).error, VerbsError::kNone);
    verbs.deliver(unread == 7 ? 1 : 7 - unread);
    verbs.take(3);
    verbs.take();
    ASSERT_EQ(verbs.taken(), verbs.sent());
  }
  EXPECT_EQ(verbs.counters().overruns, 0U);
}

// A resize succeeds exactly if the old ring has a slot for its entry and the new one room for what is unread.
TEST(Resize, RandomSequencesKeepOrderAndRefuseExactlyWhatDoesNotFit) {
  Resizing verbs(7);
  std::mt19937_64 random(11);
  std::uint64_t slots = 8;
  std::size_t done = 0;
  std::size_t refused = 0;
  for (int step = 0; step < 1500; ++step) {
    const std::uint64_t unread = verbs.sent() - verbs.taken();
    const std::uint64_t amount = random() % 12;
    if (random() % 3 == 0) {
      verbs.deliver(std::min(amount, slots - unread));
    } else if (random() % 2 == 0) {
      EXPECT_EQ(verbs.take(amount + 1), std::min(amount + 1, unread));
    } else {
      const std::uint64_t wanted = std::uint64_t{2} << random() % 6;
      const bool fits = wanted == slots || (unread < slots && unread <= wanted);
      ASSERT_EQ(verbs.resize(static_cast<std::int32_t>(wanted) - 1).error == VerbsError::kNone, fits) << step;
      if (fits) slots = wanted;
      ++(fits ? done : refused);
    }
    verbs.passCost();
  }
  verbs.take();
  EXPECT_EQ(verbs.taken(), verbs.sent());
  EXPECT_GT(done, 100U);
  EXPECT_GT(refused, 50U);
  EXPECT_EQ(verbs.counters().overruns, 0U);
  EXPECT_EQ(verbs.counters().cqes, verbs.sent());
}

TEST(Resize, UnderLoad) {
  Resizing verbs(63);
  std::int32_t depths[] = {255, 127, 1023, 63};
  for (const std::int32_t depth : depths) {
    verbs.start(50);
    verbs.hosts.runFor(microseconds(3));
    ASSERT_EQ(verbs.resize(depth).error, VerbsError::kNone);
    verbs.take(5);
    verbs.settle();
    verbs.left.poll(verbs.leftCq.handle);
    verbs.take();
    ASSERT_EQ(verbs.taken(), verbs.sent());
  }
}

TEST(Resize, ShrinkBelowWhatIsUnreadIsRefusedAndChangesNothing) {
  Resizing verbs(31);
  verbs.deliver(9);
  const CqResized refused = verbs.resize(7);
  EXPECT_EQ(refused.error, VerbsError::kInvalid);
  EXPECT_EQ(refused.cqe, 31U);
  EXPECT_EQ(verbs.refusals(adapter::Syndrome::kCqTooSmallForEntries), 1U);
  verbs.take(1);
  EXPECT_EQ(verbs.resize(7).error, VerbsError::kNone) << "eight fill eight slots";
  EXPECT_EQ(verbs.take(), 8U);
  verbs.deliver(8);
  EXPECT_EQ(verbs.take(), 8U);
}

TEST(Resize, FullRingIsRefusedUntilSoftwareReads) {
  Resizing verbs(7);
  verbs.deliver(8);
  EXPECT_EQ(verbs.resize(31).error, VerbsError::kInvalid);
  EXPECT_EQ(verbs.refusals(adapter::Syndrome::kCqNoSlotForResize), 1U);
  EXPECT_EQ(verbs.take(1), 1U);
  EXPECT_EQ(verbs.resize(31).error, VerbsError::kNone);
  EXPECT_EQ(verbs.take(), 7U);
}

class ResizeUnderRule : public testing::TestWithParam<adapter::ArmRule> {};
INSTANTIATE_TEST_SUITE_P(Rules, ResizeUnderRule,
                         testing::Values(adapter::ArmRule::kIbSpec, adapter::ArmRule::kCiCompare,
                                         adapter::ArmRule::kCiCompareOnce, adapter::ArmRule::kCiCompareStaleLoses));

TEST_P(ResizeUnderRule, ArmSurvivesAndTheResizeEntryRaisesNoEvent) {
  Resizing verbs(7, [](config::Config& config) { config.allHosts.adapter.completion.armRule = GetParam(); });
  verbs.right.countEvents();
  verbs.deliver(3);
  verbs.take();
  verbs.right.client().arm(verbs.rightCq.handle, false);
  verbs.settle();
  ASSERT_EQ(verbs.resize(31).error, VerbsError::kNone);
  verbs.settle();
  EXPECT_TRUE(verbs.right.events().empty());
  verbs.deliver(1);
  EXPECT_EQ(verbs.right.events().size(), 1U);
  EXPECT_EQ(verbs.take(), 1U);
  verbs.right.client().arm(verbs.rightCq.handle, false);
  verbs.settle();
  EXPECT_EQ(verbs.right.events().size(), 1U);
}

TEST(Resize, GivesTheOldRingBack) {
  Resizing verbs(7);
  const std::uint64_t before = verbs.right.client().allocatedBytes();
  ASSERT_EQ(verbs.resize(4000).error, VerbsError::kNone);
  EXPECT_GT(verbs.right.client().allocatedBytes(), before);
  ASSERT_EQ(verbs.resize(7).error, VerbsError::kNone);
  EXPECT_EQ(verbs.right.client().allocatedBytes(), before);
}

}  // namespace
}  // namespace hca::test

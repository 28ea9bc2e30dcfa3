// Moderation through the driver role, set by the program and by a policy.
#include <gtest/gtest.h>

#include "tests/sim/driver/verbs_pair.h"

namespace hca::test {
namespace {

using driver::ModerationKind;
using driver::SendOpcode;
using driver::VerbsError;

/// A pair whose right side completes into a queue of the wanted kind.
class Moderated {
 public:
  explicit Moderated(ModerationKind kind) : left_(hosts_, 0), right_(hosts_, 1) {
    driver::CqRequest request;
    request.cqe = 255;
    request.withChannel = true;
    request.moderation = kind;
    request.cq_count = 6;
    request.cq_period = 20;
    cq = right_.createCq(request);
    leftCq_ = left_.createCq(4000);
    pair_ = connectPair(left_, leftCq_.handle, right_, cq.handle);
  }
  void countEvents() { right_.countEvents(); }
  /// Messages that arrive together, then everything is taken and the queue is armed.
  void round(std::size_t messages) {
    deliver(messages);
    right_.poll(cq.handle);
    arm();
    passCost(left_);
    passCost(right_);
  }
  void deliver(std::size_t messages) {
    for (std::size_t i = 0; i < messages; ++i) {
      right_.postReceive(pair_.right.handle, 0);
      left_.post(pair_.left.handle, left_.request(SendOpcode::kSend, 0));
    }
    hosts_.runFor(microseconds(50));
    left_.poll(leftCq_.handle);
  }
  void arm() {
    right_.client().arm(cq.handle, false);
    hosts_.runFor(microseconds(50));
  }
  VerbsError modify(std::uint16_t count, std::uint16_t period) {
    return right_.await<VerbsError>([&](auto done) { right_.client().modifyCq(cq.handle, count, period, done); });
  }
  /// Count and period as the adapter has them.
  std::pair<int, int> setting() {
    const auto attributes = right_
                                .await<driver::Answer<adapter::CqAttributes>>([&](auto done) {
                                  hosts_.driver(1).queryCq(right_.client().owner(), cq.number, done);
                                })
                                .value;
    return {attributes.moderationCount, attributes.moderationPeriod};
  }
  [[nodiscard]] std::size_t events() const { return right_.events().size(); }

  driver::CqCreated cq;

 private:
  // Time of the thread's calls, which otherwise adds up until its next step.
  static void passCost(BlockingThread& thread) {
    thread.await<bool>([&](auto done) { thread.client().afterCost([done] { done(true); }); });
  }

  TwoHosts hosts_;
  BlockingThread left_;
  BlockingThread right_;
  driver::CqCreated leftCq_;
  ConnectedPair pair_;
};

TEST(Moderation, FixedIsWhatWasAskedFor) {
  Moderated queue(ModerationKind::kFixed);
  EXPECT_EQ(queue.setting(), std::make_pair(6, 20));
}

TEST(Moderation, NoneIgnoresCountAndPeriod) {
  Moderated queue(ModerationKind::kNone);
  EXPECT_EQ(queue.setting(), std::make_pair(0, 0));
}

TEST(Moderation, ModifyCqGathersEntriesFromThenOn) {
  Moderated queue(ModerationKind::kNone);
  queue.countEvents();
  ASSERT_EQ(queue.modify(4, 0), VerbsError::kNone);
  EXPECT_EQ(queue.setting(), std::make_pair(4, 0));
  queue.arm();
  queue.deliver(3);
  EXPECT_EQ(queue.events(), 0U);
  queue.deliver(1);
  EXPECT_EQ(queue.events(), 1U);
}

TEST(Moderation, SwitchedOffItReleasesTheEventThatWaits) {
  Moderated queue(ModerationKind::kNone);
  queue.countEvents();
  ASSERT_EQ(queue.modify(4, 0), VerbsError::kNone);
  queue.arm();
  queue.deliver(3);
  ASSERT_EQ(queue.events(), 0U);
  ASSERT_EQ(queue.modify(0, 0), VerbsError::kNone);
  queue.deliver(0);
  EXPECT_EQ(queue.events(), 1U);
}

// One round begins the first measurement; 64 are a measurement.
TEST(Moderation, DynamicPolicySetsTheAdapterWhenTheLoadGrows) {
  Moderated queue(ModerationKind::kRdmaDim);
  EXPECT_EQ(queue.setting(), std::make_pair(0, 0));
  for (int n = 0; n < 1 + 64; ++n) queue.round(2);
  for (int n = 0; n < 63; ++n) queue.round(8);
  EXPECT_EQ(queue.setting(), std::make_pair(0, 0));
  queue.round(8);
  EXPECT_EQ(queue.setting(), std::make_pair(4, 1));
  // The policy was told that the setting is in force: it goes on measuring.
  for (int n = 0; n < 1 + 64; ++n) queue.round(16);
  EXPECT_EQ(queue.setting(), std::make_pair(4, 2));
}

}  // namespace
}  // namespace hca::test

// More completions than a queue has room for.
#include <gtest/gtest.h>

#include "tests/sim/driver/verbs_pair.h"

namespace hca::test {
namespace {

using driver::SendOpcode;
using driver::VerbsError;
using driver::WcStatus;

constexpr std::uint8_t kCqError = 0x04;
constexpr std::uint8_t kQpFatal = 0x05;

/// A small queue on the left with several queue pairs, and the asynchronous events of the left side.
class Overrun {
 public:
  Overrun(bool ignored, std::size_t pairCount) : left_(hosts_, 0), right_(hosts_, 1) {
    driver::CqRequest request;
    request.cqe = kDepth;
    request.ignoreOverrun = ignored;
    cq = left_.createCq(request);
    const driver::CqCreated rightCq = right_.createCq(1000);
    for (std::size_t i = 0; i < pairCount; ++i) {
      pairs.push_back(connectPair(left_, cq.handle, right_, rightCq.handle));
    }
    left_.client().onAsyncEvent([this](std::uint8_t type, std::uint32_t object) { events.emplace_back(type, object); });
  }
  /// Posts `count` signaled writes without polling.
  void write(std::size_t pair, std::size_t count) {
    driver::SendWorkRequest request = left_.request(SendOpcode::kWrite, 0);
    request.remoteAddress = right_.buffer();
    request.remoteKey = right_.region().remoteKey;
    for (std::size_t i = 0; i < count; ++i) {
      request.workRequestId = nextId_++;
      EXPECT_EQ(left_.post(pairs[pair].left.handle, request).error, VerbsError::kNone);
    }
    hosts_.runFor(microseconds(100));
  }
  [[nodiscard]] std::size_t count(std::uint8_t type) const {
    return static_cast<std::size_t>(
        std::count_if(events.begin(), events.end(), [type](const auto& event) { return event.first == type; }));
  }
  [[nodiscard]] adapter::CqCounters counters() {
    return hosts_.system().host(0).adapter().hca().completion().find(cq.number)->counters;
  }
  [[nodiscard]] adapter::CqStatus status() {
    return left_
        .await<driver::Answer<adapter::CqAttributes>>(
            [&](auto done) { hosts_.driver(0).queryCq(left_.client().owner(), cq.number, done); })
        .value.status;
  }
  BlockingThread& left() { return left_; }

  static constexpr std::int32_t kDepth = 7;  // eight slots
  driver::CqCreated cq;
  std::vector<ConnectedPair> pairs;
  std::vector<std::pair<std::uint8_t, std::uint32_t>> events;

 private:
  TwoHosts hosts_;
  BlockingThread left_;
  BlockingThread right_;
  std::uint64_t nextId_ = 0;
};

TEST(Overrun, RingHoldsAllItsSlotsWithoutComplaint) {
  Overrun overrun(false, 1);
  overrun.write(0, 8);
  EXPECT_TRUE(overrun.events.empty());
  EXPECT_EQ(overrun.left().poll(overrun.cq.handle).size(), 8U);
  EXPECT_EQ(overrun.status(), adapter::CqStatus::kOk);
}

TEST(Overrun, CheckedGivesOneErrorThatNamesTheQueueAndFailsWhoeverUsesItNext) {
  Overrun overrun(false, 3);
  overrun.write(0, 9);
  EXPECT_EQ(overrun.count(kCqError), 1U);
  ASSERT_FALSE(overrun.events.empty());
  EXPECT_EQ(overrun.events.front(), std::make_pair(kCqError, overrun.cq.number.value()));
  EXPECT_EQ(overrun.status(), adapter::CqStatus::kOverflow);
  EXPECT_EQ(overrun.counters().overruns, 1U);
  EXPECT_EQ(overrun.counters().cqes, 8U) << "nothing more is written";
  EXPECT_EQ(overrun.count(kQpFatal), 1U) << "the one that completed into it";
  overrun.write(1, 2);
  EXPECT_EQ(overrun.count(kCqError), 1U);
  EXPECT_EQ(overrun.count(kQpFatal), 2U) << "the third never used the queue";
  EXPECT_EQ(overrun.counters().cqes, 8U);
}

TEST(Overrun, ConsumerIndexMakesRoom) {
  Overrun overrun(false, 1);
  for (int round = 0; round < 10; ++round) {
    overrun.write(0, 8);
    EXPECT_EQ(overrun.left().poll(overrun.cq.handle).size(), 8U);
  }
  EXPECT_TRUE(overrun.events.empty());
}

TEST(Overrun, IgnoredKeepsWritingAndCountsWhatIsLost) {
  Overrun overrun(true, 2);
  overrun.write(0, 20);
  overrun.write(1, 3);
  EXPECT_TRUE(overrun.events.empty());
  EXPECT_EQ(overrun.status(), adapter::CqStatus::kOk);
  EXPECT_EQ(overrun.counters().cqes, 23U);
  EXPECT_EQ(overrun.counters().lost, 15U);
  // Both queue pairs are up: another one completes.
  const auto state = overrun.left().poll(overrun.cq.handle);
  for (const driver::WorkCompletion& completion : state) EXPECT_EQ(completion.status, WcStatus::kSuccess);
  overrun.write(0, 1);
  EXPECT_EQ(overrun.counters().cqes, 24U);
}

}  // namespace
}  // namespace hca::test

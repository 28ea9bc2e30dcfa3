// A completion lands at every moment around an arm.
#include <gtest/gtest.h>

#include "tests/sim/driver/verbs_pair.h"

namespace hca::test {
namespace {

using adapter::ArmRule;
using driver::SendOpcode;

constexpr Time kArmAt = microseconds(4);  // after the start of a round
constexpr Time kStep = nanoseconds(37);   // of no period that anything in the system has
constexpr int kRounds = 160;              // the post moves from the start to two microseconds behind the arm

/// Rounds in which the right side polls in vain, arms, and sleeps, while the left side posts at a chosen moment.
class ArmWindow : public VerbsPair {
 public:
  explicit ArmWindow(ArmRule rule, bool pollsAgain)
      : VerbsPair([rule](config::Config& config) { config.allHosts.adapter.completion.armRule = rule; }),
        pollsAgain_(pollsAgain) {}

  /// True if the right side got the message.
  bool round(Time postAt) {
    const std::size_t before = received_;
    right.postReceive(pair.right.handle, 0);
    hosts.runFor(microseconds(1));
    left.client().sleepFor(postAt, [this] { left.post(pair.left.handle, left.request(SendOpcode::kSend, 0)); });
    right.client().sleepFor(kArmAt, [this] { waitOnce(); });
    settle();
    left.poll(leftCq.handle);
    return received_ != before;
  }
  /// Another message, which wakes a thread that sleeps over the one before.
  void rescue() {
    send();
    left.poll(leftCq.handle);
  }
  [[nodiscard]] std::size_t received() const { return received_; }

 private:
  void waitOnce() {
    if (take()) return;
    right.client().afterCost([this] {
      right.client().arm(rightCq.handle, false);
      if (!pollsAgain_) return sleep();
      right.client().afterArm([this] {
        if (!take()) sleep();
      });
    });
  }
  void sleep() {
    right.client().waitForEvent([this](driver::CqHandle cq) {
      right.client().acknowledge(cq, 1);
      // An event of an arm whose entry was polled already is legal: go on waiting.
      right.client().afterCost([this] {
        if (!take()) waitOnce();
      });
    });
  }
  bool take() {
    const std::size_t count = right.poll(rightCq.handle).size();
    received_ += count;
    return count != 0;
  }

  bool pollsAgain_;
  std::size_t received_ = 0;
};

TEST(ArmWindow, C11_PollingOnceMoreNeverLosesAWakeUp) {
  ArmWindow window(ArmRule::kIbSpec, true);
  for (int i = 0; i < kRounds; ++i)
    ASSERT_TRUE(window.round(kStep * i)) << "posted at " << (kStep * i).count() << " ps";
  EXPECT_EQ(window.received(), static_cast<std::size_t>(kRounds));
}

TEST(ArmWindow, C11_SleepingAfterTheArmLosesExactlyWhatLandsInTheGap) {
  ArmWindow window(ArmRule::kIbSpec, false);
  int lost = 0;
  int first = kRounds;
  int last = 0;
  for (int i = 0; i < kRounds; ++i) {
    if (window.round(kStep * i)) continue;
    ++lost;
    first = std::min(first, i);
    last = i;
    window.rescue();
  }
  // From the last poll to the arrival of the arm: some hundred nanoseconds, in one piece, but for what the adapters'
  // pipelines move the edges by from round to round.
  EXPECT_GT(lost, 2);
  EXPECT_LT(lost, 40);
  EXPECT_LE(last - first + 1 - lost, 1);
}

TEST(ArmWindow, C11_ComparingRulesLoseNothingInEitherOrder) {
  ArmWindow window(ArmRule::kCiCompareOnce, false);
  for (int i = 0; i < kRounds; ++i)
    ASSERT_TRUE(window.round(kStep * i)) << "posted at " << (kStep * i).count() << " ps";
}

}  // namespace
}  // namespace hca::test

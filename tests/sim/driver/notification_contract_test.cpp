// Arms and events, through the driver role, under each arm rule.
#include <gtest/gtest.h>

#include "tests/sim/driver/verbs_pair.h"

namespace hca::test {
namespace {

using adapter::ArmRule;
using driver::SendOpcode;
using driver::WcStatus;

std::function<void(config::Config&)> withRule(ArmRule rule) {
  return [rule](config::Config& config) { config.allHosts.adapter.completion.armRule = rule; };
}

/// The right side's queue, armed and fed step by step.
class Notification : public VerbsPair {
 public:
  explicit Notification(ArmRule rule) : VerbsPair(withRule(rule)) { right.countEvents(); }
  void arm(bool solicitedOnly = false) {
    right.client().arm(rightCq.handle, solicitedOnly);
    settle();
  }
  std::size_t poll(std::size_t max = 1024) { return right.poll(rightCq.handle, max).size(); }
  [[nodiscard]] std::size_t events() { return right.events().size(); }
};

std::string nameOf(ArmRule rule) {
  for (const auto& [name, value] : config::EnumNames<ArmRule>::kNames) {
    if (value == rule) return name;
  }
  return "unknown";
}

std::string ruleName(const testing::TestParamInfo<ArmRule>& rule) { return nameOf(rule.param); }

class EveryRule : public testing::TestWithParam<ArmRule> {};
INSTANTIATE_TEST_SUITE_P(Rules, EveryRule,
                         testing::Values(ArmRule::kIbSpec, ArmRule::kCiCompare, ArmRule::kCiCompareOnce,
                                         ArmRule::kCiCompareStaleLoses),
                         ruleName);

TEST_P(EveryRule, NoEventWithoutAnArm) {
  Notification verbs(GetParam());
  verbs.send();
  EXPECT_EQ(verbs.events(), 0U);
}

TEST_P(EveryRule, OneArmGivesOneEventHoweverManyEntriesFollow) {
  Notification verbs(GetParam());
  verbs.arm();
  EXPECT_EQ(verbs.events(), 0U);
  for (int i = 0; i < 5; ++i) verbs.send();
  EXPECT_EQ(verbs.events(), 1U);
  EXPECT_EQ(verbs.poll(), 5U);
  verbs.arm();
  EXPECT_EQ(verbs.events(), 1U);
  verbs.send();
  EXPECT_EQ(verbs.events(), 2U);
}

TEST_P(EveryRule, SolicitedArmIgnoresOrdinaryReceives) {
  Notification verbs(GetParam());
  verbs.arm(true);
  verbs.send(false);
  EXPECT_EQ(verbs.events(), 0U);
  verbs.send(true);
  EXPECT_EQ(verbs.events(), 1U);
}

TEST_P(EveryRule, SolicitedArmHearsAnyFailure) {
  Notification verbs(GetParam());
  verbs.arm(true);
  verbs.right.postReceive(verbs.pair.right.handle, 1);
  EXPECT_EQ(verbs.right.modifyToError(verbs.pair.right.handle), driver::VerbsError::kNone);
  verbs.settle();
  EXPECT_EQ(verbs.events(), 1U);
  const auto completions = verbs.right.poll(verbs.rightCq.handle);
  ASSERT_EQ(completions.size(), 1U);
  EXPECT_EQ(completions[0].status, WcStatus::kFlushed);
}

TEST_P(EveryRule, GoodSendCompletionsAreNeverSolicited) {
  Notification verbs(GetParam());
  verbs.left.countEvents();
  verbs.left.client().arm(verbs.leftCq.handle, true);
  verbs.settle();
  verbs.send(true);
  EXPECT_TRUE(verbs.left.events().empty());
  EXPECT_EQ(verbs.left.poll(verbs.leftCq.handle).size(), 1U);
}

TEST_P(EveryRule, SecondArmWithTheSameSequenceNumberIsNoSecondEvent) {
  Notification verbs(GetParam());
  verbs.arm();
  verbs.arm();
  verbs.send();
  verbs.send();
  EXPECT_EQ(verbs.events(), 1U);
}

TEST_P(EveryRule, AnyReplacesSolicitedAndStaysBesideALaterSolicited) {
  Notification verbs(GetParam());
  verbs.arm(true);
  verbs.arm(false);
  verbs.send(false);
  EXPECT_EQ(verbs.events(), 1U);
  verbs.poll();
  verbs.arm(false);
  verbs.arm(true);
  verbs.send(false);
  EXPECT_EQ(verbs.events(), 2U);
}

TEST_P(EveryRule, ArmIsInForceWithoutAPollBehindIt) {
  Notification verbs(GetParam());
  for (std::size_t round = 1; round <= 5; ++round) {
    verbs.poll();
    verbs.arm();
    verbs.send();
    EXPECT_EQ(verbs.events(), round);
  }
}

/// A rule and how many events a scenario has raised in the end.
struct Outcome {
  ArmRule rule;
  std::size_t events;
};

std::string outcomeName(const testing::TestParamInfo<Outcome>& outcome) { return nameOf(outcome.param.rule); }

// An entry lands between the last empty poll and the arm.
class EntryInTheGap : public testing::TestWithParam<Outcome> {};
TEST_P(EntryInTheGap, RaisesTheEventThatTheRulePromises) {
  Notification verbs(GetParam().rule);
  EXPECT_EQ(verbs.poll(), 0U);
  verbs.send();
  verbs.arm();
  EXPECT_EQ(verbs.events(), GetParam().events);
  verbs.send();
  EXPECT_EQ(verbs.events(), 1U) << "either way the arm is good for one event";
}
INSTANTIATE_TEST_SUITE_P(Rules, EntryInTheGap,
                         testing::Values(Outcome{ArmRule::kIbSpec, 0}, Outcome{ArmRule::kCiCompare, 1},
                                         Outcome{ArmRule::kCiCompareOnce, 1},
                                         Outcome{ArmRule::kCiCompareStaleLoses, 1}),
                         outcomeName);

// The manual page's loop: take the event, arm at once with the old index, then poll everything.
class ArmBeforePoll : public testing::TestWithParam<Outcome> {};
TEST_P(ArmBeforePoll, ComparingWithoutMemoryTellsTwice) {
  Notification verbs(GetParam().rule);
  verbs.arm();
  verbs.send();
  EXPECT_EQ(verbs.events(), 1U);
  verbs.arm();
  EXPECT_EQ(verbs.events(), GetParam().events);
  EXPECT_EQ(verbs.poll(), 1U);
}
INSTANTIATE_TEST_SUITE_P(Rules, ArmBeforePoll,
                         testing::Values(Outcome{ArmRule::kIbSpec, 1}, Outcome{ArmRule::kCiCompare, 2},
                                         Outcome{ArmRule::kCiCompareOnce, 1},
                                         Outcome{ArmRule::kCiCompareStaleLoses, 1}),
                         outcomeName);

// An entry comes after the event of the one before it, and the program arms with the index from before both.
class StaleIndex : public testing::TestWithParam<Outcome> {};
TEST_P(StaleIndex, TellsOfTheEntryThatWasInNoEvent) {
  Notification verbs(GetParam().rule);
  verbs.arm();
  verbs.send();
  verbs.send();
  EXPECT_EQ(verbs.events(), 1U);
  verbs.arm();
  EXPECT_EQ(verbs.events(), GetParam().events);
}
INSTANTIATE_TEST_SUITE_P(Rules, StaleIndex,
                         testing::Values(Outcome{ArmRule::kIbSpec, 1}, Outcome{ArmRule::kCiCompare, 2},
                                         Outcome{ArmRule::kCiCompareOnce, 2},
                                         Outcome{ArmRule::kCiCompareStaleLoses, 1}),
                         outcomeName);

// Of two entries that raised events one is polled, the other is left, and the queue is armed.
class PartialDrain : public testing::TestWithParam<Outcome> {};
TEST_P(PartialDrain, TellsAgainOnlyWithoutMemory) {
  Notification verbs(GetParam().rule);
  verbs.arm();
  verbs.send();
  verbs.arm();
  verbs.send();
  const std::size_t before = verbs.events();
  EXPECT_EQ(verbs.poll(1), 1U);
  verbs.arm();
  EXPECT_EQ(verbs.events() - before, GetParam().events);
  EXPECT_EQ(verbs.poll(), 1U);
}
INSTANTIATE_TEST_SUITE_P(Rules, PartialDrain,
                         testing::Values(Outcome{ArmRule::kIbSpec, 0}, Outcome{ArmRule::kCiCompare, 1},
                                         Outcome{ArmRule::kCiCompareOnce, 0},
                                         Outcome{ArmRule::kCiCompareStaleLoses, 0}),
                         outcomeName);

TEST(Steering, EventsGoToTheVectorOfTheirQueueAndNoOther) {
  TwoHosts hosts;
  BlockingThread left(hosts, 0);
  BlockingThread right(hosts, 1);
  std::vector<InterruptVector> delivered;
  hosts.system().probes().interrupt.attach([&](const observe::InterruptEvent& event) {
    const bool completion = event.host == HostIndex(1) && event.vector != InterruptVector(0);
    if (completion && event.action == observe::InterruptEvent::Action::kDelivered) delivered.push_back(event.vector);
  });
  const driver::CqCreated leftCq = left.createCq(100);
  right.countEvents();
  for (std::uint32_t vector = 0; vector < hosts.driver(1).completionVectors(); ++vector) {
    driver::CqRequest request;
    request.cqe = 10;
    request.comp_vector = vector;
    request.withChannel = true;
    const driver::CqCreated cq = right.createCq(request);
    const ConnectedPair pair = connectPair(left, leftCq.handle, right, cq.handle);
    right.postReceive(pair.right.handle, 1);
    right.client().arm(cq.handle, false);
    hosts.runFor(microseconds(20));
    delivered.clear();
    left.post(pair.left.handle, left.request(SendOpcode::kSend, 1));
    hosts.runFor(microseconds(50));
    ASSERT_EQ(delivered.size(), 1U) << vector;
    EXPECT_EQ(hosts.driver(1).completionVectorOf(delivered[0]), vector);
    ASSERT_EQ(right.events().size(), vector + 1);
    EXPECT_EQ(right.events().back(), cq.handle);
  }
}

TEST(Steering, QueueWithoutAChannelInterruptsAndTellsNobody) {
  TwoHosts hosts;
  BlockingThread left(hosts, 0);
  BlockingThread right(hosts, 1);
  std::size_t interrupts = 0;
  hosts.system().probes().interrupt.attach([&](const observe::InterruptEvent& event) {
    const bool completion = event.host == HostIndex(1) && event.vector != InterruptVector(0);
    if (completion && event.action == observe::InterruptEvent::Action::kDelivered) ++interrupts;
  });
  const driver::CqCreated leftCq = left.createCq(100);
  const driver::CqCreated rightCq = right.createCq(100, false);
  const ConnectedPair pair = connectPair(left, leftCq.handle, right, rightCq.handle);
  right.countEvents();
  right.postReceive(pair.right.handle, 1);
  right.client().arm(rightCq.handle, false);
  hosts.runFor(microseconds(20));
  left.post(pair.left.handle, left.request(SendOpcode::kSend, 1));
  hosts.runFor(microseconds(50));
  EXPECT_EQ(interrupts, 1U);
  EXPECT_EQ(right.client().eventsWithoutChannel(), 1U);
  EXPECT_TRUE(right.events().empty());
  EXPECT_EQ(right.poll(rightCq.handle).size(), 1U);
}

}  // namespace
}  // namespace hca::test

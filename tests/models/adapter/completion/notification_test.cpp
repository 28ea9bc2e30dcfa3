#include "models/adapter/completion/notification.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/models/adapter/completion/reference_notification.h"

namespace hca::adapter {
namespace {

constexpr ArmRule kAllRules[] = {ArmRule::kIbSpec, ArmRule::kCiCompare, ArmRule::kCiCompareOnce,
                                 ArmRule::kCiCompareStaleLoses};

std::string nameOf(const testing::TestParamInfo<ArmRule>& info) {
  for (const auto& [name, rule] : config::EnumNames<ArmRule>::kNames) {
    if (rule == info.param) return name;
  }
  return "unnamed";
}

/// A queue whose events are raised as soon as they are owed, as without moderation.
struct Queue {
  explicit Queue(ArmRule rule) : notification(rule) {}

  void entry(bool solicited = false) {
    notification.addEntry(solicited);
    settle();
  }
  bool arm(std::uint64_t consumer, bool solicitedOnly = false) {
    const auto index = static_cast<std::uint32_t>(consumer & 0xFFFFFF);
    const bool accepted = notification.arm({index, sequence, solicitedOnly});
    settle();
    return accepted;
  }
  /// What ibv_get_cq_event does: the next arm has a new sequence number.
  void getEvent() { sequence = (sequence + 1) & 3; }
  void settle() {
    if (!notification.due()) return;
    if (!notification.promised()) ++hazards;
    notification.fire();
    ++events;
  }

  Notification notification;
  std::uint8_t sequence = 0;
  int events = 0;
  int hazards = 0;
};

class EveryArmRule : public testing::TestWithParam<ArmRule> {
 protected:
  Queue queue{GetParam()};
  bool ibSpec() const { return GetParam() == ArmRule::kIbSpec; }
};
INSTANTIATE_TEST_SUITE_P(Rules, EveryArmRule, testing::ValuesIn(kAllRules), nameOf);

TEST_P(EveryArmRule, UnarmedQueueRaisesNothing) {
  for (int i = 0; i < 10; ++i) queue.entry(true);
  EXPECT_EQ(queue.events, 0);
  EXPECT_EQ(queue.notification.state(), NotificationState::kIdle);
}

TEST_P(EveryArmRule, OneEventAnArmHoweverManyEntriesFollow) {
  queue.arm(0);
  EXPECT_EQ(queue.events, 0);
  EXPECT_EQ(queue.notification.state(), NotificationState::kArmed);
  for (int i = 0; i < 10; ++i) queue.entry();
  EXPECT_EQ(queue.events, 1);
  EXPECT_EQ(queue.hazards, 0);
  EXPECT_EQ(queue.notification.state(), NotificationState::kFired);
  EXPECT_EQ(queue.notification.lastNotified(), 1u);
}

// Poll finds the queue empty, an entry lands, the arm arrives.
TEST_P(EveryArmRule, EntryInTheGap) {
  queue.entry();
  queue.arm(0);
  EXPECT_EQ(queue.events, ibSpec() ? 0 : 1);
  EXPECT_EQ(queue.hazards, ibSpec() ? 0 : 1) << "only the lenient rule gave the event";
  queue.entry();
  EXPECT_EQ(queue.events, 1) << "under ib_spec the arm stays in place for the next entry";
}

// The loop of ibv_get_cq_event(3): get event, acknowledge, arm, poll. One entry at a time.
TEST_P(EveryArmRule, ArmBeforePollDoublesTheEventsOnlyWhereServedEntriesCount) {
  std::uint64_t consumer = 0;
  queue.arm(consumer);
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    queue.entry();
    queue.getEvent();
    queue.arm(consumer);  // the poll that moves the index comes after the arm
    consumer = queue.notification.produced();
    if (GetParam() == ArmRule::kCiCompare) {  // woken once more, for nothing
      queue.getEvent();
      queue.arm(consumer);
    }
  }
  EXPECT_EQ(queue.events, GetParam() == ArmRule::kCiCompare ? 2 * kRounds : kRounds);
}

// Ten entries, one event, software takes four of them and arms.
TEST_P(EveryArmRule, PartialDrainThenArm) {
  queue.arm(0);
  queue.entry();
  queue.getEvent();
  queue.arm(1);
  for (int i = 0; i < 9; ++i) queue.entry();
  EXPECT_EQ(queue.events, 2);
  queue.getEvent();
  const std::uint64_t served = queue.notification.lastNotified();
  EXPECT_EQ(served, 2u);
  queue.arm(6);  // entries 6..9 are left, none of which raised an event
  const bool lenient = !ibSpec();
  EXPECT_EQ(queue.events, lenient ? 3 : 2);
  queue.getEvent();
  queue.arm(6);  // the same entries again: they raised an event now
  const int repeated = GetParam() == ArmRule::kCiCompare ? 1 : 0;
  EXPECT_EQ(queue.events, (lenient ? 3 : 2) + repeated);
}

// Software polls with an index of its own and arms with one that never moves.
TEST_P(EveryArmRule, StaleIndex) {
  queue.arm(0);
  queue.entry();
  queue.getEvent();
  queue.entry();  // lands after the last poll
  queue.arm(0);
  const bool fires = GetParam() == ArmRule::kCiCompare || GetParam() == ArmRule::kCiCompareOnce;
  EXPECT_EQ(queue.events, fires ? 2 : 1);
  EXPECT_EQ(queue.notification.state(), fires ? NotificationState::kFired : NotificationState::kArmed);
}

TEST_P(EveryArmRule, RightIndexAtTheLastEventIsNotStale) {
  queue.arm(0);
  queue.entry();
  queue.getEvent();
  queue.entry();
  queue.arm(1);
  EXPECT_EQ(queue.events, ibSpec() ? 1 : 2);
}

TEST_P(EveryArmRule, SecondArmWithTheSameSequenceNumberBeforeAnEventCounts) {
  queue.arm(0, true);
  EXPECT_TRUE(queue.arm(0, false)) << "nothing fired yet: the number says nothing";
  queue.entry();
  EXPECT_EQ(queue.events, 1);
}

TEST_P(EveryArmRule, ArmWithTheSequenceNumberOfTheServedOneIsIgnored) {
  queue.arm(0);
  queue.entry();
  EXPECT_FALSE(queue.arm(0));
  queue.entry();
  EXPECT_EQ(queue.events, 1);
  EXPECT_EQ(queue.notification.state(), NotificationState::kFired);
  queue.getEvent();
  EXPECT_TRUE(queue.arm(2));
  queue.entry();
  EXPECT_EQ(queue.events, 2);
}

TEST_P(EveryArmRule, AdvancedSequenceNumberWithoutAnEventIsAccepted) {
  queue.arm(0);
  queue.getEvent();
  EXPECT_TRUE(queue.arm(0));
  queue.entry();
  EXPECT_EQ(queue.events, 1);
  queue.getEvent();
  queue.getEvent();
  EXPECT_TRUE(queue.arm(1));
}

TEST_P(EveryArmRule, SequenceNumberComesRoundAfterFourEvents) {
  for (std::uint64_t i = 0; i < 9; ++i) {
    EXPECT_TRUE(queue.arm(i));
    queue.entry();
    queue.getEvent();
  }
  EXPECT_EQ(queue.events, 9);
}

TEST_P(EveryArmRule, SolicitedOnlyWaitsForASolicitedEntry) {
  queue.arm(0, true);
  EXPECT_EQ(queue.notification.state(), NotificationState::kArmedSolicited);
  queue.entry(false);
  queue.entry(false);
  EXPECT_EQ(queue.events, 0);
  queue.entry(true);
  EXPECT_EQ(queue.events, 1);
  EXPECT_EQ(queue.notification.lastNotified(), 3u);
  EXPECT_EQ(queue.notification.lastSolicited(), 3u);
}

TEST_P(EveryArmRule, AnyReplacesSolicited) {
  queue.arm(0, true);
  queue.arm(0, false);
  EXPECT_EQ(queue.notification.state(), NotificationState::kArmed);
  queue.entry(false);
  EXPECT_EQ(queue.events, 1);
}

TEST_P(EveryArmRule, SolicitedDoesNotReplaceAny) {
  queue.arm(0, false);
  queue.arm(0, true);
  EXPECT_EQ(queue.notification.state(), NotificationState::kArmed);
  queue.entry(false);
  EXPECT_EQ(queue.events, 1);
}

TEST_P(EveryArmRule, UpgradeFromSolicitedToAnyLooksAtEntriesBetween) {
  queue.arm(0, true);
  queue.entry(false);
  EXPECT_EQ(queue.events, 0);
  queue.arm(0, false);
  EXPECT_EQ(queue.events, ibSpec() ? 0 : 1);
}

TEST_P(EveryArmRule, SolicitedArmComparesWithTheLastSolicitedEntry) {
  queue.entry(true);
  queue.entry(false);
  queue.arm(1, true);  // entry 0 was polled, entry 1 is not solicited
  EXPECT_EQ(queue.events, 0);
  Queue other(GetParam());
  other.entry(false);
  other.entry(true);
  other.arm(1, true);
  EXPECT_EQ(other.events, ibSpec() ? 0 : 1);
}

TEST_P(EveryArmRule, IndexAheadOfTheProducerWaits) {
  queue.entry();
  queue.arm(5);
  EXPECT_EQ(queue.events, 0);
  queue.entry();
  EXPECT_EQ(queue.events, 1) << "any new entry serves it";
}

TEST_P(EveryArmRule, IndexBehindTheFirstEntryOfAllIsTakenAsZero) {
  queue.arm(0xFFFFFF);
  EXPECT_EQ(queue.events, 0);
  queue.entry();
  EXPECT_EQ(queue.events, 1);
}

// The gap scenario with the indices on both sides of 2^24.
TEST_P(EveryArmRule, IndicesWrapAt24Bits) {
  constexpr std::uint64_t kWrap = 1u << 24;
  while (queue.notification.produced() < kWrap - 1) queue.notification.addEntry(false);
  queue.arm(kWrap - 1);
  EXPECT_EQ(queue.events, 0) << "all consumed";
  queue.entry();  // entry 2^24 - 1
  EXPECT_EQ(queue.events, 1);
  queue.getEvent();
  queue.entry();  // entry 2^24: index 0 in the register
  queue.arm(kWrap);
  EXPECT_EQ(queue.events, ibSpec() ? 1 : 2);
  queue.getEvent();
  queue.entry();
  queue.getEvent();
  queue.arm(kWrap + 2);
  const int before = queue.events;
  queue.entry();
  EXPECT_EQ(queue.events, before + 1);
  EXPECT_EQ(queue.notification.lastNotified(), kWrap + 3);
}

// Moderation holds the event back; meanwhile software polls and arms again.
TEST(Notification, OldestUnpromisedEntryOutlivesAFurtherArm) {
  Notification notification(ArmRule::kCiCompareOnce);
  for (int i = 0; i < 5; ++i) notification.addEntry(false);
  notification.arm({2, 0, false});
  ASSERT_TRUE(notification.due());
  notification.arm({4, 0, false});
  EXPECT_EQ(notification.firstUnpromised(), 2u);
  EXPECT_FALSE(notification.promised());
  notification.addEntry(false);
  EXPECT_TRUE(notification.promised()) << "this one came after an arm";
}

TEST_P(EveryArmRule, UnaskedEventServesAPendingArm) {
  queue.arm(0, true);
  queue.notification.addEntry(false);
  EXPECT_FALSE(queue.notification.due());
  queue.notification.fire();  // CE = 3
  EXPECT_EQ(queue.notification.state(), NotificationState::kFired);
  EXPECT_EQ(queue.notification.lastNotified(), 1u);
}

TEST_P(EveryArmRule, UnaskedEventLeavesAnUnarmedQueueUnarmed) {
  queue.notification.addEntry(false);
  queue.notification.fire();
  EXPECT_EQ(queue.notification.state(), NotificationState::kIdle);
  EXPECT_TRUE(queue.arm(1)) << "no arm was served: its sequence number is free";
}

TEST_P(EveryArmRule, AgreesWithThePlainContract) {
  constexpr std::uint64_t kEarlier = (1u << 24) - 30'000;  // the schedule crosses 2^24
  constexpr int kSteps = 100'000;
  Notification notification(GetParam());
  for (std::uint64_t i = 0; i < kEarlier; ++i) notification.addEntry(false);
  test::ReferenceNotification reference(GetParam(), kEarlier);
  std::mt19937_64 random(20261129);
  std::uint64_t consumer = kEarlier;
  std::uint8_t sequence = 0;
  for (int step = 0; step < kSteps; ++step) {
    switch (random() % 8) {
      case 0: {  // arm: true index, or a stale one of the recent past
        const std::uint64_t index = random() % 4 == 0 ? std::max(kEarlier, consumer - random() % 20) : consumer;
        const bool solicitedOnly = random() % 2 == 0;
        const bool accepted = reference.arm(index, sequence, solicitedOnly);
        ASSERT_EQ(notification.arm({static_cast<std::uint32_t>(index & 0xFFFFFF), sequence, solicitedOnly}), accepted);
        break;
      }
      case 1:
        consumer += random() % (reference.produced() - consumer + 1);
        break;
      case 2:
        sequence = (sequence + 1) & 3;
        break;
      case 3:
        if (reference.owed() || random() % 50 == 0) {
          notification.fire();
          reference.fire();
        }
        break;
      default: {
        const bool solicited = random() % 5 == 0;
        notification.addEntry(solicited);
        reference.entry(solicited);
      }
    }
    ASSERT_EQ(notification.due(), reference.owed()) << "step " << step;
    ASSERT_EQ(notification.promised(), reference.promised()) << "step " << step;
  }
  EXPECT_GT(reference.produced(), (1u << 24));
}

}  // namespace
}  // namespace hca::adapter

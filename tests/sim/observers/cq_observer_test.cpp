#include "sim/observers/cq_observer.h"

#include <gmock/gmock.h>

#include "tests/sim/observers/probe_events.h"

namespace hca::observers {
namespace {

using observe::CqAction;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CqObserverTest : public testing::Test {
 protected:
  void on(CqAction action, std::int64_t ns, std::uint64_t index = 0) { fire(probes_, action, ns, index); }
  // Poll, entry, arm, sleep, arm arrives: the thread sleeps for ever under ib_spec.
  void loseWakeUp() {
    on(CqAction::kPolledEmpty, 1000);
    on(CqAction::kCqeVisible, 1100, 0);
    on(CqAction::kArmIssued, 1200, 0);
    on(CqAction::kSleep, 1300);
    on(CqAction::kArmArrived, 1500, 0);
  }
  std::vector<report::FailureResult> finish() { return observer_.finish(); }

  observe::Probes probes_;
  CqObserver observer_{probes_};
};

TEST_F(CqObserverTest, CountsWhatHappened) {
  observer_.describe(kHost, kAdapter, kCq, 127, 128);
  for (std::uint64_t i = 0; i < 40; ++i) on(CqAction::kCqeVisible, 100, i);
  for (std::uint64_t i = 0; i < 40; ++i) on(CqAction::kPolled, 200, i);
  on(CqAction::kCqeVisible, 300, 40);
  on(CqAction::kArmArrived, 400);
  on(CqAction::kEventFired, 400);
  on(CqAction::kOverrun, 500);
  on(CqAction::kEntryLost, 600, 40);
  const auto results = observer_.results();
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(results[0].host, kHost);
  EXPECT_EQ(results[0].cq, kCq);
  EXPECT_EQ(results[0].cqe, 127U);
  EXPECT_EQ(results[0].cqeSize, 128U);
  EXPECT_EQ(results[0].cqesWritten, 41U);
  EXPECT_EQ(results[0].highWater, 40U);
  EXPECT_EQ(results[0].arms, 1U);
  EXPECT_EQ(results[0].events, 1U);
  EXPECT_EQ(results[0].overruns, 1U);
  EXPECT_EQ(results[0].lost, 1U);
}

TEST_F(CqObserverTest, ResizeEntryMovesWhatWasNotPolledAndIsNoCompletion) {
  for (std::uint64_t i = 0; i < 4; ++i) on(CqAction::kCqeVisible, 100, i);
  on(CqAction::kPolled, 200, 0);
  on(CqAction::kResized, 300, 4);
  for (std::uint64_t i = 2; i < 5; ++i) on(CqAction::kPolled, 400, i);
  EXPECT_EQ(observer_.polled(kHost, kAdapter, kCq), 5U);
  for (std::uint64_t i = 5; i < 8; ++i) on(CqAction::kCqeVisible, 500, i);
  const auto results = observer_.results();
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(results[0].cqesWritten, 7U);
  EXPECT_EQ(results[0].highWater, 4U);
}

TEST_F(CqObserverTest, ListsQueuesInOrder) {
  for (const std::uint32_t number : {7U, 3U, 5U}) fire(probes_, cqEvent(CqAction::kCqeVisible, 0, 0, CqNumber(number)));
  const auto results = observer_.results();
  ASSERT_THAT(results, SizeIs(3));
  EXPECT_EQ(results[0].cq, CqNumber(3));
  EXPECT_EQ(results[2].cq, CqNumber(7));
}

TEST_F(CqObserverTest, NamesALostWakeUp) {
  loseWakeUp();
  const auto failures = finish();
  ASSERT_THAT(failures, SizeIs(1));
  const report::FailureResult& failure = failures[0];
  EXPECT_EQ(failure.kind, "lost_wakeup");
  EXPECT_EQ(failure.host, kHost);
  EXPECT_EQ(failure.cq, kCq);
  EXPECT_EQ(failure.entries, 1U);
  EXPECT_EQ(failure.since, nanoseconds(1300));
  EXPECT_THAT(failure.message,
              HasSubstr("host 1, CQ 0x81: a thread sleeps since 1.300000 us although 1 completion waits"));
  EXPECT_THAT(failure.message, HasSubstr("Poll once more after arming"));
  EXPECT_EQ(failure.software,
            "went to sleep at 1.300000 us; armed for any completion with consumer index 0 at 1.200000 us; found the "
            "queue empty at 1.000000 us");
  EXPECT_THAT(failure.hardware, HasSubstr("took the arm at 1.500000 us"));
}

TEST_F(CqObserverTest, TellsTheHazardProbe) {
  std::vector<observe::HazardEvent> events;
  probes_.hazard.attach([&](const observe::HazardEvent& event) { events.push_back(event); });
  loseWakeUp();
  (void)finish();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].kind, observe::HazardEvent::Kind::kLostWakeUp);
  EXPECT_EQ(events[0].time, nanoseconds(1300)) << "since when it sleeps, not when that was found out";
  EXPECT_EQ(events[0].cq, kCq);
  EXPECT_EQ(events[0].firstEntry, 0U);
  EXPECT_EQ(events[0].entries, 1U);
}

TEST_F(CqObserverTest, SinceIsTheEntryIfItCameAfterTheSleep) {
  on(CqAction::kArmIssued, 1200, 0);
  on(CqAction::kSleep, 1300);
  on(CqAction::kCqeVisible, 1400, 0);
  on(CqAction::kArmArrived, 1500, 0);
  const auto failures = finish();
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_EQ(failures[0].since, nanoseconds(1400));
}

TEST_F(CqObserverTest, AnEventOnItsWayIsNoLoss) {
  loseWakeUp();
  on(CqAction::kEventFired, 1600);
  EXPECT_THAT(finish(), IsEmpty());
  on(CqAction::kEventDelivered, 2000);
  EXPECT_THAT(finish(), IsEmpty());
  on(CqAction::kWake, 2500);
  EXPECT_THAT(finish(), IsEmpty());
}

TEST_F(CqObserverTest, AThreadThatIsAwakeHasLostNothing) {
  on(CqAction::kCqeVisible, 1100, 0);
  EXPECT_THAT(finish(), IsEmpty());
}

TEST_F(CqObserverTest, SleepingOnAnEmptyQueueIsNoLoss) {
  on(CqAction::kCqeVisible, 1100, 0);
  on(CqAction::kPolled, 1150, 0);
  on(CqAction::kArmIssued, 1200, 1);
  on(CqAction::kSleep, 1300);
  on(CqAction::kArmArrived, 1500, 1);
  EXPECT_THAT(finish(), IsEmpty());
}

TEST_F(CqObserverTest, AnOldEventDoesNotHideALaterLoss) {
  on(CqAction::kArmArrived, 100);
  on(CqAction::kCqeVisible, 200, 0);
  on(CqAction::kEventFired, 200);
  on(CqAction::kEventDelivered, 300);
  on(CqAction::kPolled, 400, 0);
  on(CqAction::kPolledEmpty, 500);
  on(CqAction::kCqeVisible, 600, 1);
  on(CqAction::kArmIssued, 700, 1);
  on(CqAction::kSleep, 800);
  on(CqAction::kArmArrived, 900, 1);
  const auto failures = finish();
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_EQ(failures[0].entries, 1U);
}

TEST_F(CqObserverTest, ASolicitedArmAsksForSolicitedEntriesOnly) {
  auto arm = cqEvent(CqAction::kArmIssued, 1200);
  arm.solicitedOnly = true;
  on(CqAction::kCqeVisible, 1100, 0);
  fire(probes_, arm);
  on(CqAction::kArmArrived, 1300);
  on(CqAction::kSleep, 1400);
  EXPECT_THAT(finish(), IsEmpty());
  auto entry = cqEvent(CqAction::kCqeVisible, 1250, 1);
  entry.solicited = true;
  fire(probes_, entry);
  const auto failures = finish();
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_EQ(failures[0].entries, 1U);
  EXPECT_THAT(failures[0].software, HasSubstr("armed for a solicited completion"));
}

TEST_F(CqObserverTest, SaysWhyByCase) {
  on(CqAction::kCqeVisible, 100, 0);
  on(CqAction::kSleep, 200);
  EXPECT_THAT(finish().at(0).message, HasSubstr("never armed"));
  on(CqAction::kArmIssued, 300);
  EXPECT_THAT(finish().at(0).message, HasSubstr("hasn't reached the adapter"));
  on(CqAction::kArmArrived, 400);
  on(CqAction::kArmIgnored, 400);
  EXPECT_THAT(finish().at(0).message, HasSubstr("ignored the last arm"));
}

TEST_F(CqObserverTest, TellsAServedArmFromTheRace) {
  on(CqAction::kArmIssued, 100);
  on(CqAction::kArmArrived, 200);
  on(CqAction::kEventFired, 300, 1);
  on(CqAction::kCqeVisible, 310, 0);
  on(CqAction::kEventDelivered, 400);
  on(CqAction::kCqeVisible, 500, 1);
  on(CqAction::kSleep, 600);
  EXPECT_THAT(finish().at(0).message, HasSubstr("had given its one event"));
  on(CqAction::kArmIssued, 700);
  on(CqAction::kArmArrived, 800);
  EXPECT_THAT(finish().at(0).message, HasSubstr("The completions were written before the arm"));
}

TEST_F(CqObserverTest, OverwrittenEntriesAreNotWaitedFor) {
  for (std::uint64_t i = 0; i < 8; ++i) on(CqAction::kCqeVisible, 100, i);
  for (std::uint64_t i = 0; i < 6; ++i) on(CqAction::kEntryLost, 100, i);
  on(CqAction::kSleep, 200);
  EXPECT_EQ(finish().at(0).entries, 2U);
}

TEST_F(CqObserverTest, AnswersForOthers) {
  EXPECT_EQ(observer_.polled(kHost, kAdapter, kCq), 0U);
  EXPECT_FALSE(observer_.isAsleep(kHost, kAdapter, kCq));
  on(CqAction::kPolled, 100, 4);
  on(CqAction::kSleep, 200);
  EXPECT_EQ(observer_.polled(kHost, kAdapter, kCq), 5U);
  EXPECT_TRUE(observer_.isAsleep(kHost, kAdapter, kCq));
}

}  // namespace
}  // namespace hca::observers

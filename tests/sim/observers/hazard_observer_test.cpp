#include "sim/observers/hazard_observer.h"

#include <gmock/gmock.h>

#include "tests/sim/observers/probe_events.h"

namespace hca::observers {
namespace {

using observe::CqAction;
using testing::IsEmpty;
using testing::SizeIs;

class HazardObserverTest : public testing::Test {
 protected:
  void on(CqAction action, std::int64_t ns, std::uint64_t index = 0) { fire(probes_, action, ns, index); }
  observe::Probes probes_;
  CqObserver queues_{probes_};
  HazardObserver observer_{probes_, queues_};
};

TEST_F(HazardObserverTest, CountsIfTheThreadSleptBeforeTheArmArrived) {
  on(CqAction::kCqeVisible, 100, 0);
  on(CqAction::kSleep, 200);
  fireHazard(probes_, 300, 0, 1);
  on(CqAction::kWake, 5000);
  on(CqAction::kPolled, 5100, 0);
  ASSERT_THAT(observer_.results(), SizeIs(1));
  const report::HazardResult& hazard = observer_.results()[0];
  EXPECT_EQ(hazard.kind, "arm_after_entry");
  EXPECT_EQ(hazard.cq, kCq);
  EXPECT_EQ(hazard.count, 1U);
  EXPECT_EQ(hazard.entries, 1U);
  EXPECT_EQ(hazard.first, nanoseconds(300));
}

TEST_F(HazardObserverTest, CountsIfTheThreadSleepsAfterwards) {
  on(CqAction::kCqeVisible, 100, 0);
  fireHazard(probes_, 300, 0, 1);
  EXPECT_THAT(observer_.results(), IsEmpty());
  on(CqAction::kSleep, 400);
  EXPECT_THAT(observer_.results(), SizeIs(1));
}

TEST_F(HazardObserverTest, TheSafeOrderIsNone) {
  on(CqAction::kCqeVisible, 100, 0);
  on(CqAction::kPolled, 200, 0);  // ahead of the arm that is on its way
  fireHazard(probes_, 300, 0, 1);
  on(CqAction::kSleep, 400);
  EXPECT_THAT(observer_.results(), IsEmpty());
}

TEST_F(HazardObserverTest, PollingAllEntriesBeforeSleepingIsNone) {
  on(CqAction::kCqeVisible, 100, 0);
  on(CqAction::kCqeVisible, 100, 1);
  fireHazard(probes_, 300, 0, 2);
  on(CqAction::kPolled, 400, 0);
  on(CqAction::kPolled, 410, 1);
  on(CqAction::kSleep, 500);
  EXPECT_THAT(observer_.results(), IsEmpty());
}

TEST_F(HazardObserverTest, PollingSomeOfThemIsNotEnough) {
  on(CqAction::kCqeVisible, 100, 0);
  on(CqAction::kCqeVisible, 100, 1);
  fireHazard(probes_, 300, 0, 2);
  on(CqAction::kPolled, 400, 0);
  on(CqAction::kSleep, 500);
  EXPECT_THAT(observer_.results(), SizeIs(1));
}

TEST_F(HazardObserverTest, AddsUpPerQueueAndKind) {
  on(CqAction::kSleep, 50);
  fireHazard(probes_, 300, 0, 1);
  fireHazard(probes_, 400, 1, 3);
  probes_.hazard.fire([&] {
    return observe::HazardEvent{observe::HazardEvent::Kind::kLostWakeUp, nanoseconds(900), kHost, kAdapter, kCq, 4, 1};
  });
  ASSERT_THAT(observer_.results(), SizeIs(2));
  EXPECT_EQ(observer_.results()[0].count, 2U);
  EXPECT_EQ(observer_.results()[0].entries, 4U);
  EXPECT_EQ(observer_.results()[0].first, nanoseconds(300));
  EXPECT_EQ(observer_.results()[0].last, nanoseconds(400));
  EXPECT_EQ(observer_.results()[1].kind, "lost_wakeup");
}

}  // namespace
}  // namespace hca::observers

// The race between poll and arm, under each arm rule and in both orders.
#include <gtest/gtest.h>

#include <vector>

#include "tests/sim/workload/flow_run.h"

namespace hca::test {
namespace {

using adapter::ArmRule;
using observe::CqAction;
using sim::EventOrder;
using sim::FlowConfig;

FlowConfig race(EventOrder order, std::uint32_t messages) {
  FlowConfig flow;
  flow.kind = sim::FlowKind::kArmRace;
  flow.verb = sim::FlowVerb::kSend;
  flow.size = Bytes(64);
  flow.iters = messages;
  flow.tx_depth = 4;
  flow.rx_depth = 4;
  flow.gap = microseconds(10);
  flow.pause = microseconds(20);
  flow.events = order;
  return flow;
}

class Race {
 public:
  Race(ArmRule rule, EventOrder order, std::uint32_t messages)
      : run_([rule](config::Config& config) { config.allHosts.adapter.completion.armRule = rule; }) {
    run_.add("race", race(order, messages));
    run_.system().probes().cq.attach([this](const observe::CqEvent& event) {
      if (event.host == HostIndex(1)) events_.push_back(event);
    });
    finished_ = run_.run();
  }
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] std::size_t count(CqAction action) const {
    std::size_t count = 0;
    for (const observe::CqEvent& event : events_) count += event.action == action ? 1 : 0;
    return count;
  }
  /// Time of the first such event.
  [[nodiscard]] Time first(CqAction action) const {
    for (const observe::CqEvent& event : events_) {
      if (event.action == action) return event.time;
    }
    return kForever;
  }
  [[nodiscard]] std::uint64_t received() { return run_.workload().results()[0].iterations; }

 private:
  FlowRun run_;
  std::vector<observe::CqEvent> events_;
  bool finished_ = false;
};

TEST(ArmRace, UnsafeOrderSleepsForEverUnderTheSpecification) {
  Race race(ArmRule::kIbSpec, EventOrder::kUnsafe, 2);
  EXPECT_FALSE(race.finished());
  EXPECT_EQ(race.received(), 0U);
  // The entry was there before the arm arrived, and nobody was told.
  EXPECT_EQ(race.count(CqAction::kCqeVisible), 1U);
  EXPECT_EQ(race.count(CqAction::kArmArrived), 1U);
  EXPECT_LT(race.first(CqAction::kPolledEmpty), race.first(CqAction::kCqeVisible));
  EXPECT_LT(race.first(CqAction::kCqeVisible), race.first(CqAction::kArmArrived));
  EXPECT_EQ(race.count(CqAction::kEventFired), 0U);
  EXPECT_EQ(race.count(CqAction::kSleep), 1U);
  EXPECT_EQ(race.count(CqAction::kWake), 0U);
}

TEST(ArmRace, UnsafeOrderIsSavedByAComparingRule) {
  Race race(ArmRule::kCiCompare, EventOrder::kUnsafe, 4);
  EXPECT_TRUE(race.finished());
  EXPECT_EQ(race.received(), 4U);
  EXPECT_EQ(race.count(CqAction::kWake), 4U);
}

TEST(ArmRace, UnsafeOrderIsSavedByTheRuleThatTellsOnce) {
  Race race(ArmRule::kCiCompareOnce, EventOrder::kUnsafe, 4);
  EXPECT_TRUE(race.finished());
  EXPECT_EQ(race.received(), 4U);
}

TEST(ArmRace, SafeOrderNeverSleepsOverAnEntry) {
  Race race(ArmRule::kIbSpec, EventOrder::kSafe, 4);
  EXPECT_TRUE(race.finished());
  EXPECT_EQ(race.received(), 4U);
  // Messages 0 and 2 are found by the poll after the arm, 1 and 3 raise the event of that arm.
  EXPECT_EQ(race.count(CqAction::kEventFired), 2U);
  EXPECT_EQ(race.count(CqAction::kWake), 2U);
}

TEST(ArmRace, SafeOrderWorksUnderEveryRule) {
  Race race(ArmRule::kCiCompareOnce, EventOrder::kSafe, 4);
  EXPECT_TRUE(race.finished());
  EXPECT_EQ(race.received(), 4U);
}

TEST(ArmRace, SafeOrderTakesSpuriousEventsInItsStride) {
  Race race(ArmRule::kCiCompare, EventOrder::kSafe, 4);
  EXPECT_TRUE(race.finished());
  EXPECT_EQ(race.received(), 4U);
}

}  // namespace
}  // namespace hca::test

#include "sim/observers/event_log.h"

#include <gmock/gmock.h>

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/sim/observers/probe_events.h"

namespace hca::observers {
namespace {

using observe::CqAction;
using observe::InterruptEvent;
using testing::ElementsAre;
using testing::HasSubstr;

class EventLogTest : public testing::Test {
 protected:
  void start(ArmOrder order) {
    EventLog::Settings settings;
    settings.order = order;
    settings.now = [this] { return now_; };
    settings.showsInterrupt = [](const InterruptEvent& event) { return event.vector != InterruptVector(0); };
    log_.emplace(probes_, stream_, settings);
  }
  // Hardware acts at the present; software (`ahead`) tells what it will have done.
  void on(CqAction action, std::int64_t ns, std::uint64_t index = 0) {
    now_ = nanoseconds(ns);
    fire(probes_, action, ns, index);
  }
  void ahead(CqAction action, std::int64_t ns, std::uint64_t index = 0) { fire(probes_, action, ns, index); }
  void interrupt(InterruptEvent::Action action, std::int64_t ns, std::uint32_t vector) {
    now_ = nanoseconds(ns);
    probes_.interrupt.fire([&] {
      return InterruptEvent{action, nanoseconds(ns), kHost, kAdapter, InterruptVector(vector)};
    });
  }
  std::vector<std::string> steps() {
    log_->finish();
    std::istringstream lines(stream_.str());
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);) {
      const auto at = line.find("step ");
      if (at != std::string::npos) found.push_back(line.substr(at + 5, 2));
    }
    return found;
  }

  observe::Probes probes_;
  std::ostringstream stream_;
  Time now_;
  std::optional<EventLog> log_;
};

TEST_F(EventLogTest, WritesALineAnEvent) {
  start(ArmOrder::kNone);
  on(CqAction::kCqeVisible, 1100, 0);
  interrupt(InterruptEvent::Action::kDelivered, 1200, 3);
  interrupt(InterruptEvent::Action::kDelivered, 1300, 0);
  log_->finish();
  EXPECT_EQ(stream_.str(),
            "    1.100000 us           host 1  adapter   CQ 0x81: completion 0 is in memory; not armed: no event\n"
            "    1.200000 us           host 1  host      interrupt 3: delivered to its core\n");
}

TEST_F(EventLogTest, AnEntryFollowsItsEvent) {
  start(ArmOrder::kUnsafe);
  on(CqAction::kPolledEmpty, 1000);
  on(CqAction::kArmArrived, 1100);
  on(CqAction::kEventFired, 1200, 1);
  on(CqAction::kCqeVisible, 1500, 0);
  EXPECT_THAT(steps(), ElementsAre("1 "));
  EXPECT_THAT(stream_.str(), HasSubstr("completion 0 is in memory; its event is on its way"));
}

TEST_F(EventLogTest, ShowsTheQueuesThatItIsToldTo) {
  EventLog::Settings settings;
  settings.now = [this] { return now_; };
  settings.showsQueue = [](const observe::CqEvent& event) { return event.cq == kCq; };
  EventLog log(probes_, stream_, settings);
  fire(probes_, cqEvent(CqAction::kWake, 1000, 0, CqNumber(7)));
  log.finish();
  EXPECT_EQ(stream_.str(), "");
  fire(probes_, cqEvent(CqAction::kWake, 1000));
  log.finish();
  EXPECT_THAT(stream_.str(), HasSubstr("CQ 0x81: wakes up"));
}

TEST_F(EventLogTest, LinesAppearAsTimePasses) {
  start(ArmOrder::kNone);
  on(CqAction::kCqeVisible, 1000, 0);
  EXPECT_THAT(stream_.str(), HasSubstr("1.000000 us"));
  ahead(CqAction::kSleep, 1500);
  EXPECT_THAT(stream_.str(), testing::Not(HasSubstr("1.500000 us")));
  on(CqAction::kArmArrived, 1500);
  EXPECT_THAT(stream_.str(), HasSubstr("1.500000 us"));
}

TEST_F(EventLogTest, SortsWhatSoftwareTellsAhead) {
  start(ArmOrder::kNone);
  ahead(CqAction::kArmIssued, 1500);
  ahead(CqAction::kSleep, 1600);
  on(CqAction::kCqeVisible, 1550, 0);
  log_->finish();
  const std::string text = stream_.str();
  EXPECT_LT(text.find("arms: asks"), text.find("completion 0 is in memory"));
  EXPECT_LT(text.find("completion 0 is in memory"), text.find("goes to sleep, 1 completion unpolled"));
}

TEST_F(EventLogTest, NumbersTheStepsOfTheLostWakeUp) {
  start(ArmOrder::kUnsafe);
  ahead(CqAction::kPolledEmpty, 1000);
  on(CqAction::kCqeVisible, 1100, 0);
  ahead(CqAction::kArmIssued, 1200, 0);
  ahead(CqAction::kSleep, 1200);
  on(CqAction::kArmArrived, 1500, 0);
  EXPECT_THAT(steps(), ElementsAre("1 ", "2 ", "3 ", "4 ", "5 "));
  EXPECT_THAT(
      stream_.str(),
      HasSubstr("    1.500000 us  step 4   host 1  adapter   CQ 0x81: no event: completion 0 was written before the "
                "arm\n    1.500000 us  step 5   host 1  software  CQ 0x81: the thread sleeps; completion 0 stays"));
}

TEST_F(EventLogTest, NumbersTheSleepIfItComesLast) {
  start(ArmOrder::kUnsafe);
  on(CqAction::kPolledEmpty, 1000);
  on(CqAction::kCqeVisible, 1100, 0);
  on(CqAction::kArmIssued, 1200, 0);
  on(CqAction::kArmArrived, 1500, 0);
  on(CqAction::kSleep, 1600);
  EXPECT_THAT(steps(), ElementsAre("1 ", "2 ", "3 ", "4 ", "5 "));
}

TEST_F(EventLogTest, ALenientRuleEndsTheRace) {
  start(ArmOrder::kUnsafe);
  on(CqAction::kPolledEmpty, 1000);
  on(CqAction::kCqeVisible, 1100, 0);
  on(CqAction::kArmArrived, 1500, 0);
  on(CqAction::kEventFired, 1500);
  on(CqAction::kSleep, 1600);
  EXPECT_THAT(steps(), ElementsAre("1 ", "2 ", "3 "));
}

TEST_F(EventLogTest, NumbersTheStepsOfTheSafeOrder) {
  start(ArmOrder::kSafe);
  on(CqAction::kPolledEmpty, 1000);
  on(CqAction::kCqeVisible, 1100, 0);
  ahead(CqAction::kArmIssued, 1200, 0);
  ahead(CqAction::kPolled, 1250, 0);
  ahead(CqAction::kPolledEmpty, 1260);
  ahead(CqAction::kSleep, 1270);
  on(CqAction::kArmArrived, 1500, 0);
  on(CqAction::kCqeVisible, 3000, 1);
  on(CqAction::kEventFired, 3000);
  on(CqAction::kEventDelivered, 3500);
  on(CqAction::kWake, 7000);
  EXPECT_THAT(steps(), ElementsAre("6 ", "7 ", "8 ", "9 ", "10", "11"));
}

TEST_F(EventLogTest, TheSafeOrderBeginsAgain) {
  start(ArmOrder::kSafe);
  for (std::int64_t round = 0; round < 2; ++round) {
    const std::int64_t t = round * 10'000;
    const auto entry = static_cast<std::uint64_t>(round) * 2;
    on(CqAction::kPolledEmpty, t + 1000);
    on(CqAction::kCqeVisible, t + 1100, entry);
    on(CqAction::kArmIssued, t + 1200);
    on(CqAction::kPolled, t + 1250, entry);
    on(CqAction::kArmArrived, t + 1500);
    on(CqAction::kCqeVisible, t + 3000, entry + 1);
    on(CqAction::kEventFired, t + 3000);
    on(CqAction::kWake, t + 7000);
    on(CqAction::kPolled, t + 7100, entry + 1);
  }
  EXPECT_THAT(steps(), ElementsAre("6 ", "7 ", "8 ", "9 ", "10", "11", "6 ", "7 ", "8 ", "9 ", "10", "11"));
}

TEST_F(EventLogTest, EveryActionHasWords) {
  start(ArmOrder::kNone);
  for (int action = 0; action <= static_cast<int>(CqAction::kResized); ++action) {
    on(static_cast<CqAction>(action), 1000);
  }
  for (const auto action : {InterruptEvent::Action::kMessageSent, InterruptEvent::Action::kMaskedPending}) {
    interrupt(action, 2000, 1);
  }
  log_->finish();
  std::istringstream lines(stream_.str());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_NE(line.back(), ' ') << line;
    EXPECT_LE(line.size(), 105U) << line;
  }
  EXPECT_EQ(count, static_cast<int>(CqAction::kResized) + 3);
}

}  // namespace
}  // namespace hca::observers

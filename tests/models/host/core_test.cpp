#include "models/host/core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "models/host/cpu.h"
#include "models/host/poll_grid.h"

namespace hca::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Call = std::pair<std::uint64_t, Time>;  // token, when

class CoreTest : public testing::Test, public kernel::CalendarClient {
 protected:
  void onCalendar(std::uint64_t token) override {
    calls.emplace_back(token, calendar.now());
    const auto found = onCall.find(token);
    if (found != onCall.end()) found->second();
  }
  // Runs `action` at `when`, before anything that software does at that time.
  struct At final : kernel::CalendarClient {
    void onCalendar(std::uint64_t token) override { actions[token](); }
    std::vector<std::function<void()>> actions;
  };
  void at(Time when, std::function<void()> action) {
    calendar.schedule(when, kernel::Priority::kControl, at_, at_.actions.size());
    at_.actions.push_back(std::move(action));
  }
  void run() { calendar.runUntil(milliseconds(1)); }

  kernel::Calendar calendar;
  Core core{calendar};
  At at_;
  std::vector<Call> calls;
  std::map<std::uint64_t, std::function<void()>> onCall;
};

TEST_F(CoreTest, WorkEndsAfterItsCostAndNotBefore) {
  core.execute(nanoseconds(100), *this, 1);
  calendar.runUntil(nanoseconds(100) - picoseconds(1));
  EXPECT_THAT(calls, IsEmpty());
  calendar.runUntil(nanoseconds(100));
  EXPECT_THAT(calls, ElementsAre(Call(1, nanoseconds(100))));
}

TEST_F(CoreTest, ServesWorkFirstComeFirstServed) {
  core.execute(nanoseconds(100), *this, 1);
  at(nanoseconds(30), [&] { core.execute(nanoseconds(50), *this, 2); });
  at(nanoseconds(20), [&] { core.execute(nanoseconds(10), *this, 3); });
  at(nanoseconds(500), [&] { core.execute(nanoseconds(1), *this, 4); });
  run();
  EXPECT_THAT(calls, ElementsAre(Call(1, nanoseconds(100)), Call(3, nanoseconds(110)), Call(2, nanoseconds(160)),
                                 Call(4, nanoseconds(501))));
  EXPECT_EQ(core.threadTime(), nanoseconds(161));
}

TEST_F(CoreTest, WhatACallChargesDelaysTheOthers) {
  onCall[1] = [&] { core.charge(nanoseconds(40)); };
  core.execute(nanoseconds(10), *this, 1);
  core.execute(nanoseconds(5), *this, 2);
  run();
  EXPECT_THAT(calls, ElementsAre(Call(1, nanoseconds(10)), Call(2, nanoseconds(55))));
}

TEST_F(CoreTest, AnInterruptPreemptsAndPushesTheCompletionBack) {
  core.execute(nanoseconds(100), *this, 1);
  at(nanoseconds(60), [&] { core.interrupt(nanoseconds(30), *this, 9); });
  run();
  EXPECT_THAT(calls, ElementsAre(Call(9, nanoseconds(90)), Call(1, nanoseconds(130))));
}

TEST_F(CoreTest, TheLastPicosecondDecidesWhetherWorkIsInterrupted) {
  core.execute(nanoseconds(100), *this, 1);
  at(nanoseconds(100) + picoseconds(1), [&] { core.interrupt(nanoseconds(30), *this, 9); });
  run();
  EXPECT_THAT(calls, ElementsAre(Call(1, nanoseconds(100)), Call(9, nanoseconds(130) + picoseconds(1))));
  calls.clear();

  const Time start = calendar.now();
  core.execute(nanoseconds(100), *this, 1);
  at(start + nanoseconds(100) - picoseconds(1), [&] { core.interrupt(nanoseconds(30), *this, 9); });
  run();
  calendar.runUntil(start + microseconds(1));
  EXPECT_THAT(calls,
              ElementsAre(Call(9, start + nanoseconds(130) - picoseconds(1)), Call(1, start + nanoseconds(130))));
}

TEST_F(CoreTest, AnInterruptAlsoDelaysWhatACallCharged) {
  onCall[1] = [&] {
    core.charge(nanoseconds(100));
    core.execute(Time(), *this, 2);
  };
  core.execute(Time(), *this, 1);
  at(nanoseconds(40), [&] { core.interrupt(nanoseconds(7), *this, 9); });
  run();
  EXPECT_THAT(calls, ElementsAre(Call(1, Time()), Call(9, nanoseconds(47)), Call(2, nanoseconds(107))));
}

TEST_F(CoreTest, AnInterruptDelaysAChargeThatNothingFollowsYet) {
  onCall[1] = [&] { core.charge(nanoseconds(100)); };
  core.execute(Time(), *this, 1);
  at(nanoseconds(40), [&] { core.interrupt(nanoseconds(7), *this, 9); });
  at(nanoseconds(60), [&] { core.execute(nanoseconds(1), *this, 2); });
  run();
  EXPECT_THAT(calls, ElementsAre(Call(1, Time()), Call(9, nanoseconds(47)), Call(2, nanoseconds(108))));
}

TEST_F(CoreTest, HandlersRunOneAfterTheOther) {
  core.execute(nanoseconds(100), *this, 1);
  at(nanoseconds(10), [&] { core.interrupt(nanoseconds(20), *this, 8); });
  at(nanoseconds(15), [&] { core.interrupt(nanoseconds(20), *this, 9); });
  run();
  EXPECT_THAT(calls, ElementsAre(Call(8, nanoseconds(30)), Call(9, nanoseconds(50)), Call(1, nanoseconds(140))));
  EXPECT_EQ(core.interrupts(), 2u);
  EXPECT_EQ(core.interruptTime(), nanoseconds(40));
}

TEST_F(CoreTest, AHandlerGoesOnBeforeTheNextInterrupt) {
  onCall[8] = [&] { core.continueInterrupt(nanoseconds(5), *this, 80); };
  onCall[80] = [&] { core.chargeInterrupt(nanoseconds(3)); };
  core.execute(nanoseconds(100), *this, 1);
  at(nanoseconds(10), [&] { core.interrupt(nanoseconds(20), *this, 8); });
  at(nanoseconds(15), [&] { core.interrupt(nanoseconds(20), *this, 9); });
  run();
  EXPECT_THAT(calls, ElementsAre(Call(8, nanoseconds(30)), Call(80, nanoseconds(35)), Call(9, nanoseconds(58)),
                                 Call(1, nanoseconds(148))));
  EXPECT_EQ(core.interrupts(), 2u);
}

TEST_F(CoreTest, WorkThatComesDuringAHandlerWaitsForItsEnd) {
  onCall[8] = [&] { core.chargeInterrupt(nanoseconds(10)); };
  core.interrupt(nanoseconds(20), *this, 8);
  at(nanoseconds(5), [&] { core.execute(nanoseconds(2), *this, 1); });
  run();
  EXPECT_THAT(calls, ElementsAre(Call(8, nanoseconds(20)), Call(1, nanoseconds(32))));
}

TEST_F(CoreTest, ASpinningThreadFindsTheAnswerAtItsNextPoll) {
  onCall[1] = [&] {
    core.charge(nanoseconds(3));
    core.startSpinning(nanoseconds(10));
  };
  core.execute(Time(), *this, 1);  // polls at 3, 13, 23, ...
  at(nanoseconds(13) + picoseconds(1), [&] { core.stopSpinning(nanoseconds(10), Time(), *this, 2); });
  run();
  EXPECT_THAT(calls, ElementsAre(Call(1, Time()), Call(2, nanoseconds(23))));
}

TEST_F(CoreTest, AnAnswerAtTheStartOfAPollIsFoundByIt) {
  core.startSpinning(nanoseconds(10));
  at(nanoseconds(20), [&] { core.stopSpinning(nanoseconds(10), Time(), *this, 2); });
  run();
  EXPECT_THAT(calls, ElementsAre(Call(2, nanoseconds(20))));
}

TEST_F(CoreTest, APollOfSeveralThingsLooksAtEachInItsTurn) {
  core.startSpinning(nanoseconds(30));  // three things, 10ns each: the third at 20, 50, 80, ...
  at(nanoseconds(21), [&] { core.stopSpinning(nanoseconds(30), nanoseconds(20), *this, 2); });
  run();
  EXPECT_THAT(calls, ElementsAre(Call(2, nanoseconds(50))));
}

TEST_F(CoreTest, AnInterruptShiftsThePolls) {
  core.startSpinning(nanoseconds(10));
  at(nanoseconds(12), [&] { core.interrupt(nanoseconds(100), *this, 9); });
  // Not before the handler's end, at 112; polls go on at 120, 130, ...
  at(nanoseconds(50), [&] { core.stopSpinning(nanoseconds(10), Time(), *this, 2); });
  run();
  EXPECT_THAT(calls, ElementsAre(Call(9, nanoseconds(112)), Call(2, nanoseconds(120))));
}

TEST_F(CoreTest, ASpinningThreadMakesRoomForWork) {
  core.startSpinning(nanoseconds(10));
  at(nanoseconds(12), [&] { core.execute(nanoseconds(100), *this, 1); });  // from 20 to 120
  at(nanoseconds(50), [&] { core.stopSpinning(nanoseconds(10), Time(), *this, 2); });
  run();
  EXPECT_THAT(calls, ElementsAre(Call(1, nanoseconds(120)), Call(2, nanoseconds(120))));
}

TEST_F(CoreTest, SpinningThreadsTakeTurns) {
  core.startSpinning(nanoseconds(10));
  core.startSpinning(nanoseconds(10));  // each polls every 20ns
  at(nanoseconds(21), [&] { core.stopSpinning(nanoseconds(10), Time(), *this, 1); });
  at(nanoseconds(45), [&] { core.stopSpinning(nanoseconds(10), Time(), *this, 2); });
  run();
  EXPECT_THAT(calls, ElementsAre(Call(1, nanoseconds(40)), Call(2, nanoseconds(50))));
}

TEST(PollGrid, FirstPollAtOrAfter) {
  constexpr Time kOrigin = nanoseconds(100);
  constexpr Time kPeriod = nanoseconds(7);
  EXPECT_EQ(pollGrid(kOrigin, kPeriod, Time(0)), kOrigin);
  EXPECT_EQ(pollGrid(kOrigin, kPeriod, kOrigin), kOrigin);
  EXPECT_EQ(pollGrid(kOrigin, kPeriod, kOrigin + picoseconds(1)), kOrigin + kPeriod);
  EXPECT_EQ(pollGrid(kOrigin, kPeriod, kOrigin + kPeriod * 1000), kOrigin + kPeriod * 1000);
  EXPECT_EQ(pollGrid(kOrigin, kPeriod, kOrigin + kPeriod * 1000 + picoseconds(1)), kOrigin + kPeriod * 1001);
}

TEST(Cpu, DealsCoresInTurn) {
  kernel::Calendar calendar;
  CpuConfig config;
  config.cores = 3;
  Cpu cpu(calendar, config);
  EXPECT_EQ(cpu.cores(), 3u);
  EXPECT_EQ(&cpu.core(4), &cpu.core(1));
  EXPECT_NE(&cpu.core(1), &cpu.core(2));
  EXPECT_EQ(cpu.config().wakeUpSameCore, microseconds(4)) << "published for a wake-up on the interrupt's core";
}

}  // namespace
}  // namespace hca::host

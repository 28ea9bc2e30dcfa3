#include "models/host/software_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "models/host/cpu.h"

namespace hca::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A thread whose steps are a list of actions; each records when it ran.
class Script final : public kernel::CalendarClient {
 public:
  Script(kernel::Calendar& c, Core& core, const CpuConfig& config) : calendar(c), thread(c, core, config) {}
  void start() { thread.afterCost(*this, 0); }
  void onCalendar(std::uint64_t token) override {
    times.push_back(calendar.now());
    if (token < steps.size()) steps[token]();
  }
  kernel::Calendar& calendar;
  SoftwareThread thread;
  std::vector<std::function<void()>> steps;
  std::vector<Time> times;
};

// Acts at given times, as hardware does: before software.
class Hardware final : public kernel::CalendarClient {
 public:
  explicit Hardware(kernel::Calendar& c) : calendar(c) {}
  void at(Time when, std::function<void()> action) {
    calendar.schedule(when, kernel::Priority::kHostMemory, *this, actions.size());
    actions.push_back(std::move(action));
  }
  void onCalendar(std::uint64_t token) override { actions[token](); }
  kernel::Calendar& calendar;
  std::vector<std::function<void()>> actions;
};

class SoftwareThreadTest : public testing::Test {
 protected:
  kernel::Calendar calendar;
  CpuConfig config;
  Cpu cpu{calendar, config};
  Hardware hardware{calendar};
  Script a{calendar, cpu.core(0), config};
  Script b{calendar, cpu.core(0), config};
};

TEST_F(SoftwareThreadTest, StepsAreApartByWhatWasCharged) {
  a.steps = {[&] {
               a.thread.charge(nanoseconds(30));
               EXPECT_EQ(a.thread.time(), calendar.now() + nanoseconds(30));
               a.thread.charge(nanoseconds(12));
               a.thread.afterCost(a, 1);
             },
             [&] { EXPECT_EQ(a.thread.time(), calendar.now()) << "a new step, nothing charged"; }};
  a.start();
  calendar.runUntil(nanoseconds(42) - picoseconds(1));
  EXPECT_EQ(a.times.size(), 1u);
  calendar.runUntil(nanoseconds(42));
  EXPECT_THAT(a.times, ElementsAre(Time(), nanoseconds(42)));
  EXPECT_TRUE(a.thread.isIdle());
}

TEST_F(SoftwareThreadTest, WhatIsChargedOutsideOfAStepDelaysTheFirst) {
  a.thread.charge(nanoseconds(5));
  a.start();
  calendar.runUntil(nanoseconds(100));
  EXPECT_THAT(a.times, ElementsAre(nanoseconds(5)));
}

TEST_F(SoftwareThreadTest, TwoThreadsOfACoreAlternate) {
  for (Script* script : {&a, &b}) {
    for (std::uint64_t step = 0; step < 3; ++step) {
      script->steps.push_back([script, step] {
        script->thread.charge(nanoseconds(10));
        script->thread.afterCost(*script, step + 1);
      });
    }
  }
  a.start();
  b.start();
  calendar.runUntil(nanoseconds(100));
  EXPECT_THAT(a.times, ElementsAre(Time(), nanoseconds(20), nanoseconds(40), nanoseconds(60)));
  EXPECT_THAT(b.times, ElementsAre(nanoseconds(10), nanoseconds(30), nanoseconds(50), nanoseconds(60)));
}

TEST_F(SoftwareThreadTest, SpinsUntilFoundWithoutEvents) {
  a.steps = {[&] {
    a.thread.charge(nanoseconds(4));
    a.thread.spin(nanoseconds(10), a, 1);
  }};
  a.start();
  calendar.runUntil(nanoseconds(1));
  EXPECT_TRUE(a.thread.isSpinning());
  EXPECT_TRUE(calendar.empty()) << "empty polls take time and no events";
  hardware.at(nanoseconds(1'000'001), [&] { a.thread.found(); });
  calendar.runUntil(milliseconds(2));
  EXPECT_THAT(a.times, ElementsAre(Time(), nanoseconds(1'000'004)));
}

TEST_F(SoftwareThreadTest, ASpinThatIsAnsweredBeforeItBeganStartsWithAFullPoll) {
  a.steps = {[&] {
    a.thread.charge(nanoseconds(40));
    a.thread.spin(nanoseconds(10), a, 1);
  }};
  a.start();
  hardware.at(nanoseconds(7), [&] { a.thread.found(); });
  calendar.runUntil(microseconds(1));
  EXPECT_THAT(a.times, ElementsAre(Time(), nanoseconds(40)));
}

TEST_F(SoftwareThreadTest, WakesUpAfterTheLatencyOfItsOwnCore) {
  a.steps = {[&] { a.thread.sleep(a, 1); }};
  a.start();
  hardware.at(nanoseconds(100), [&] { EXPECT_TRUE(a.thread.wake(cpu.core(0))); });
  calendar.runUntil(nanoseconds(100) + config.wakeUpSameCore - picoseconds(1));
  EXPECT_EQ(a.times.size(), 1u);
  calendar.runUntil(nanoseconds(100) + config.wakeUpSameCore);
  EXPECT_THAT(a.times, ElementsAre(Time(), nanoseconds(4100)));
}

TEST_F(SoftwareThreadTest, AWakeUpFromAnotherCoreTakesLonger) {
  a.steps = {[&] { a.thread.sleep(a, 1); }};
  a.start();
  hardware.at(nanoseconds(100), [&] { EXPECT_TRUE(a.thread.wake(cpu.core(1))); });
  calendar.runUntil(nanoseconds(100) + config.wakeUpOtherCore - picoseconds(1));
  EXPECT_EQ(a.times.size(), 1u);
  calendar.runUntil(nanoseconds(100) + config.wakeUpOtherCore);
  EXPECT_EQ(a.times.size(), 2u);
}

TEST_F(SoftwareThreadTest, OnlyASleepingThreadIsWokenAndOnlyOnce) {
  a.steps = {[&] { a.thread.sleep(a, 1); }};
  EXPECT_FALSE(a.thread.wake(cpu.core(0))) << "idle";
  a.start();
  EXPECT_FALSE(a.thread.wake(cpu.core(0))) << "ready";
  calendar.runUntil(nanoseconds(1));
  EXPECT_TRUE(a.thread.wake(cpu.core(0)));
  EXPECT_FALSE(a.thread.wake(cpu.core(0))) << "waking";
  calendar.runUntil(milliseconds(1));
  EXPECT_EQ(a.times.size(), 2u);
}

TEST_F(SoftwareThreadTest, AWokenThreadWaitsForItsCore) {
  a.steps = {[&] { a.thread.sleep(a, 1); }};
  b.steps = {[&] {
    b.thread.charge(microseconds(9));
    b.thread.afterCost(b, 1);
  }};
  a.start();
  b.start();
  hardware.at(nanoseconds(100), [&] { a.thread.wake(cpu.core(0)); });
  calendar.runUntil(milliseconds(1));
  EXPECT_THAT(a.times, ElementsAre(Time(), microseconds(9)));
}

TEST_F(SoftwareThreadTest, SleepingTakesTheCoreFromNobody) {
  a.steps = {[&] {
    a.thread.charge(nanoseconds(10));
    a.thread.sleepFor(nanoseconds(500), a, 1);
  }};
  b.steps = {[&] {
    b.thread.charge(nanoseconds(100));
    b.thread.afterCost(b, 1);
  }};
  a.start();
  b.start();
  calendar.runUntil(nanoseconds(510) - picoseconds(1));
  EXPECT_THAT(b.times, ElementsAre(nanoseconds(10), nanoseconds(110)));
  EXPECT_EQ(a.times.size(), 1u);
  calendar.runUntil(nanoseconds(510));
  EXPECT_THAT(a.times, ElementsAre(Time(), nanoseconds(510)));
}

// An interrupt handler on the thread's core that wakes it: the whole path of a completion event.
class WakingHandler final : public kernel::CalendarClient {
 public:
  WakingHandler(Core& c, SoftwareThread& t) : core(c), thread(t) {}
  void onCalendar(std::uint64_t token) override {
    if (token == 0) core.continueInterrupt(nanoseconds(100), *this, 1);
    if (token == 1) thread.wake(core);
  }
  Core& core;
  SoftwareThread& thread;
};

TEST_F(SoftwareThreadTest, FromInterruptToRunningThread) {
  a.steps = {[&] { a.thread.sleep(a, 1); }};
  a.start();
  WakingHandler handler(cpu.core(0), a.thread);
  hardware.at(microseconds(1), [&] { cpu.core(0).interrupt(microseconds(1), handler, 0); });
  calendar.runUntil(milliseconds(1));
  EXPECT_THAT(a.times, ElementsAre(Time(), microseconds(2) + nanoseconds(100) + microseconds(4)));
}

TEST_F(SoftwareThreadTest, TwoThreadsThatPollForEachOtherShareACore) {
  // Each answers the other's poll ten times.
  Script* scripts[] = {&a, &b};
  for (int i = 0; i < 2; ++i) {
    Script* self = scripts[i];
    Script* peer = scripts[1 - i];
    self->steps = {[self] { self->thread.spin(nanoseconds(10), *self, 1); },
                   [self, peer] {
                     self->thread.charge(nanoseconds(50));
                     if (peer->thread.isSpinning() && peer->times.size() < 10) peer->thread.found();
                     self->thread.spin(nanoseconds(10), *self, 1);
                   }};
  }
  a.start();
  b.start();
  hardware.at(nanoseconds(100), [&] { a.thread.found(); });
  calendar.runUntil(microseconds(10));
  EXPECT_EQ(b.times.size(), 10u);
  EXPECT_GT(a.times.size(), 9u);
}

}  // namespace
}  // namespace hca::host

// The calendar under the SystemC kernel. SystemC elaborates once a process: each case runs in its own.
#include "models/kernel/calendar_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <systemc>
#include <tuple>
#include <vector>

#include "models/kernel/activation_counter.h"

namespace hca::kernel {
namespace {

using testing::ElementsAre;

using Executed = std::tuple<std::int64_t, std::uint64_t>;  // time, token

// Executes entries and schedules more, at random but always the same.
class RandomWork final : public CalendarClient {
 public:
  explicit RandomWork(Calendar& c) : calendar(c) {
    for (int i = 0; i < 20; ++i) scheduleOne();
  }
  void onCalendar(std::uint64_t token) override {
    executed.emplace_back(calendar.now().count(), token);
    if (token % 7 == 0) scheduleOne();
    if (token % 13 != 0) scheduleOne();
  }
  void scheduleOne() {
    if (scheduled == kEntries) return;
    // Often the same picosecond, sometimes far beyond a quantum.
    const auto delay = static_cast<std::int64_t>(random() % 100 == 0 ? random() % 30'000'000 : random() % 50'000);
    calendar.schedule(calendar.now() + picoseconds(delay / 1000 * 1000), static_cast<Priority>(random() % 6), *this,
                      scheduled++);
  }
  static constexpr std::uint64_t kEntries = 5'000;
  Calendar& calendar;
  std::mt19937_64 random{42};
  std::uint64_t scheduled = 0;
  std::vector<Executed> executed;
};

// The slow reference: no SystemC, one entry after the other.
std::vector<Executed> reference() {
  Calendar calendar;
  RandomWork work(calendar);
  calendar.runUntil(kForever);
  return work.executed;
}

struct Outcome {
  std::vector<Executed> executed;
  std::uint64_t activations;
};

Outcome runUnderSystemC(Time quantum) {
  CalendarModule module("calendar", quantum);
  RandomWork work(module.calendar());
  const std::uint64_t before = activations();
  sc_core::sc_start();
  return {work.executed, activations() - before};
}

TEST(CalendarModule, ExecutesInTheCalendarsOrderWithTheDefaultQuantum) {
  const Outcome run = runUnderSystemC(microseconds(10));
  EXPECT_EQ(run.executed, reference());
  EXPECT_LT(run.activations, RandomWork::kEntries / 10) << "many entries an activation";
}

TEST(CalendarModule, ExecutesInTheCalendarsOrderWithoutAQuantum) {
  const Outcome run = runUnderSystemC(Time());
  EXPECT_EQ(run.executed, reference());
  std::uint64_t stamps = 0;
  std::int64_t last = -1;
  for (const auto& [time, token] : run.executed) {
    if (time != last) ++stamps;
    last = time;
  }
  EXPECT_GE(run.activations, stamps) << "at least one activation a time stamp";
}

// Somebody else's module: a process with a period of its own that looks at what was executed.
class Foreigner : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Foreigner);
  Foreigner(const sc_core::sc_module_name& name, const RandomWork& watched, sc_core::sc_time period)
      : sc_core::sc_module(name), work(watched), period_(period) {
    SC_METHOD(look);
  }
  const RandomWork& work;
  std::vector<std::pair<std::int64_t, std::size_t>> looks;  // when, entries executed by then

 private:
  void look() {
    looks.emplace_back(fromScTime(sc_core::sc_time_stamp()).count(), work.executed.size());
    next_trigger(period_);
  }
  sc_core::sc_time period_;
};

TEST(CalendarModule, AForeignProcessSeesThePastAndNothingOfTheFuture) {
  CalendarModule module("calendar");
  RandomWork work(module.calendar());
  Foreigner foreigner("foreigner", work, sc_core::sc_time(1'237, sc_core::SC_PS));
  sc_core::sc_start(sc_core::sc_time(200, sc_core::SC_US));
  ASSERT_GT(foreigner.looks.size(), 100'000u);
  ASSERT_GT(work.executed.size(), 1'000u);
  for (const auto& [when, count] : foreigner.looks) {
    const std::int64_t last = count > 0 ? std::get<0>(work.executed[count - 1]) : 0;
    const std::int64_t next = count < work.executed.size() ? std::get<0>(work.executed[count]) : when;
    ASSERT_LE(last, when) << "an entry of the future was executed";
    ASSERT_GE(next, when) << "an entry of the past was not";
  }
  EXPECT_EQ(work.executed, [&] {
    std::vector<Executed> all = reference();
    all.resize(work.executed.size());
    return all;
  }());
}

// Records, and acts when told to.
class Recorder final : public CalendarClient {
 public:
  explicit Recorder(Calendar& c) : calendar(c) {}
  void onCalendar(std::uint64_t token) override {
    seen.emplace_back(calendar.now().count(), token);
    if (token == kStop) calendar.stop();
  }
  static constexpr std::uint64_t kStop = 99;
  Calendar& calendar;
  std::vector<Executed> seen;
};

TEST(CalendarModule, StopsAfterTheEntryUnderWayAndGoesOn) {
  CalendarModule module("calendar");
  Recorder recorder(module.calendar());
  module.calendar().schedule(nanoseconds(1), Priority::kAdapter, recorder, 1);
  module.calendar().schedule(nanoseconds(2), Priority::kAdapter, recorder, Recorder::kStop);
  module.calendar().schedule(nanoseconds(2), Priority::kAdapter, recorder, 2);
  module.calendar().schedule(nanoseconds(3), Priority::kAdapter, recorder, 3);
  sc_core::sc_start();
  EXPECT_THAT(recorder.seen, ElementsAre(Executed(1000, 1), Executed(2000, Recorder::kStop)));
  EXPECT_EQ(module.calendar().now(), nanoseconds(2));
  sc_core::sc_start();
  EXPECT_THAT(recorder.seen,
              ElementsAre(Executed(1000, 1), Executed(2000, Recorder::kStop), Executed(2000, 2), Executed(3000, 3)));
}

TEST(CalendarModule, IsWokenByWhoeverSchedulesFromOutside) {
  CalendarModule module("calendar");
  Recorder recorder(module.calendar());
  sc_core::sc_start(sc_core::sc_time(5, sc_core::SC_NS));  // nothing to do
  module.synchronise();
  EXPECT_EQ(module.calendar().now(), nanoseconds(5));
  module.calendar().schedule(nanoseconds(8), Priority::kAdapter, recorder, 1);
  module.wake();
  sc_core::sc_start(sc_core::sc_time(5, sc_core::SC_NS));
  EXPECT_THAT(recorder.seen, ElementsAre(Executed(8000, 1)));
}

// A foreign process that hands work to the calendar, as an initiator of a TLM transaction would.
class Initiator : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Initiator);
  Initiator(const sc_core::sc_module_name& name, CalendarModule& m, CalendarClient& c)
      : sc_core::sc_module(name), module_(m), client_(c) {
    SC_METHOD(send);
    dont_initialize();
    next_.notify(sc_core::sc_time(10, sc_core::SC_NS));
    sensitive << next_;
  }

 private:
  void send() {
    module_.synchronise();
    module_.calendar().schedule(module_.calendar().now() + nanoseconds(3), Priority::kLink, client_, sent_++);
    module_.wake();
    if (sent_ < 3) next_.notify(sc_core::sc_time(10, sc_core::SC_NS));
  }
  CalendarModule& module_;
  CalendarClient& client_;
  sc_core::sc_event next_{"next"};
  std::uint64_t sent_ = 0;
};

TEST(CalendarModule, ForeignWorkInterleavesWithItsOwn) {
  CalendarModule module("calendar");
  Recorder recorder(module.calendar());
  for (std::uint64_t i = 0; i < 4; ++i) {
    module.calendar().schedule(nanoseconds(static_cast<std::int64_t>(8 + 10 * i)), Priority::kAdapter, recorder,
                               100 + i);
  }
  Initiator initiator("initiator", module, recorder);
  sc_core::sc_start();
  EXPECT_THAT(recorder.seen,
              ElementsAre(Executed(8'000, 100), Executed(13'000, 0), Executed(18'000, 101), Executed(23'000, 1),
                          Executed(28'000, 102), Executed(33'000, 2), Executed(38'000, 103)));
}

TEST(CalendarModule, ConvertsTimeWithoutLoss) {
  for (const std::int64_t ps : {std::int64_t{0}, std::int64_t{1}, std::int64_t{999}, std::int64_t{1} << 62}) {
    EXPECT_EQ(fromScTime(toScTime(picoseconds(ps))), picoseconds(ps));
  }
}

}  // namespace
}  // namespace hca::kernel

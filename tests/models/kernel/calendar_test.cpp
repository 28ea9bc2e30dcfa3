#include "models/kernel/calendar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "models/kernel/inbox.h"
#include "models/kernel/keyed_timers.h"
#include "models/kernel/timer.h"

namespace hca::kernel {
namespace {

struct Recorder : CalendarClient {
  explicit Recorder(Calendar& c) : calendar(c) {}
  void onCalendar(std::uint64_t token) override { seen.emplace_back(calendar.now(), token); }
  Calendar& calendar;
  std::vector<std::pair<Time, std::uint64_t>> seen;
};

TEST(Calendar, OrdersByTimeThenPriorityThenSequence) {
  Calendar calendar;
  Recorder recorder(calendar);
  calendar.schedule(nanoseconds(2), Priority::kAdapter, recorder, 4);
  calendar.schedule(nanoseconds(1), Priority::kSoftware, recorder, 3);
  calendar.schedule(nanoseconds(1), Priority::kAdapter, recorder, 1);
  calendar.schedule(nanoseconds(1), Priority::kAdapter, recorder, 2);
  calendar.runUntil(nanoseconds(5));
  ASSERT_EQ(recorder.seen.size(), 4u);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(recorder.seen[i].second, i + 1);
  EXPECT_EQ(calendar.now(), nanoseconds(5));
}

TEST(Calendar, NothingBeforeItsTimeAndNotLater) {
  Calendar calendar;
  Recorder recorder(calendar);
  calendar.schedule(picoseconds(1000), Priority::kAdapter, recorder, 1);
  calendar.runUntil(picoseconds(999));
  EXPECT_TRUE(recorder.seen.empty());
  calendar.runUntil(picoseconds(1000));
  EXPECT_EQ(recorder.seen.size(), 1u);
}

// Random schedules against a sorted list.
TEST(Calendar, AgreesWithAStableSort) {
  std::mt19937_64 random(7);
  Calendar calendar;
  Recorder recorder(calendar);
  struct Reference {
    std::int64_t when;
    int priority;
    std::uint64_t token;
  };
  std::vector<Reference> reference;
  for (std::uint64_t token = 0; token < 20'000; ++token) {
    const auto when = static_cast<std::int64_t>(random() % 500);
    const auto priority = static_cast<int>(random() % 6);
    reference.push_back({when, priority, token});
    calendar.schedule(picoseconds(when), static_cast<Priority>(priority), recorder, token);
  }
  std::stable_sort(reference.begin(), reference.end(), [](const Reference& a, const Reference& b) {
    return a.when != b.when ? a.when < b.when : a.priority < b.priority;
  });
  calendar.runUntil(kForever);
  ASSERT_EQ(recorder.seen.size(), reference.size());
  for (std::size_t i = 0; i < reference.size(); ++i) EXPECT_EQ(recorder.seen[i].second, reference[i].token);
}

struct Block {
  explicit Block(Calendar& c)
      : calendar(c),
        inbox(c, Priority::kAdapter, *this, &Block::onRecord),
        timer(c, Priority::kAdapter, *this, &Block::onTimer),
        timers(c, Priority::kAdapter, *this, &Block::onKey) {}
  void onRecord(int& record) { records.emplace_back(calendar.now(), record); }
  void onTimer() { fired.push_back(calendar.now()); }
  void onKey(std::uint32_t key) { keys.emplace_back(calendar.now(), key); }
  Calendar& calendar;
  Inbox<Block, int> inbox;
  Timer<Block> timer;
  KeyedTimers<Block> timers;
  std::vector<std::pair<Time, int>> records;
  std::vector<Time> fired;
  std::vector<std::pair<Time, std::uint32_t>> keys;
};

TEST(Inbox, DeliversAtTheStampAndReusesSlots) {
  Calendar calendar;
  Block block(calendar);
  block.inbox.send(nanoseconds(3), 3);
  block.inbox.send(nanoseconds(1), 1);
  EXPECT_EQ(block.inbox.pending(), 2u);
  calendar.runUntil(nanoseconds(10));
  EXPECT_EQ(block.inbox.pending(), 0u);
  EXPECT_EQ(block.records, (std::vector<std::pair<Time, int>>{{nanoseconds(1), 1}, {nanoseconds(3), 3}}));
}

// Entries schedule others as they run, directly and through inboxes, in and out of order; a set of keys says who is
// next.
class Chain : public CalendarClient {
 public:
  /// An entry is due within one of `spans` picoseconds; `atOnce` are under way from the beginning.
  Chain(std::uint64_t seed, std::vector<std::int64_t> spans, int atOnce)
      : random_(seed), spans_(std::move(spans)), atOnce_(atOnce) {
    for (int i = 0; i < 6; ++i) {
      inboxes_.push_back(std::make_unique<Inbox<Chain, std::uint64_t>>(calendar_, static_cast<Priority>(i % 3), *this,
                                                                       &Chain::onRecord));
    }
  }
  void run() {
    for (int i = 0; i < atOnce_; ++i) scheduleOne();
    calendar_.runUntil(kForever);
    EXPECT_TRUE(expected_.empty());
    EXPECT_GT(executed_, 20'000u);
  }

 private:
  void onRecord(std::uint64_t& token) { act(token); }
  void onCalendar(std::uint64_t token) override { act(token); }

  void act(std::uint64_t token) {
    ASSERT_FALSE(expected_.empty());
    EXPECT_EQ(std::get<2>(*expected_.begin()), token);
    EXPECT_EQ(std::get<0>(*expected_.begin()), calendar_.now().count());
    expected_.erase(expected_.begin());
    expectNext();
    ++executed_;
    const std::uint64_t more = executed_ < 20'000 ? random_() % 3 : 0;
    for (std::uint64_t i = 0; i < more; ++i) {
      scheduleOne();
      expectNext();
    }
    if (expected_.empty() && executed_ < 20'000) scheduleOne();
  }
  void expectNext() const {
    EXPECT_EQ(calendar_.empty(), expected_.empty());
    const std::int64_t next = expected_.empty() ? kForever.count() : std::get<0>(*expected_.begin());
    EXPECT_EQ(calendar_.next().count(), next);
  }
  void scheduleOne() {
    const std::int64_t span = spans_[random_() % spans_.size()];
    const std::int64_t when =
        calendar_.now().count() + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(span));
    const auto way = static_cast<std::size_t>(random_() % 8);
    const int priority = static_cast<int>(way < inboxes_.size() ? way % 3 : random_() % 6);
    expected_.emplace(when, priority, tokens_);
    if (way < inboxes_.size()) {
      inboxes_[way]->send(picoseconds(when), tokens_);
    } else {
      calendar_.schedule(picoseconds(when), static_cast<Priority>(priority), *this, tokens_);
    }
    ++tokens_;
  }

  std::mt19937_64 random_;
  std::vector<std::int64_t> spans_;
  int atOnce_;
  Calendar calendar_;
  std::vector<std::unique_ptr<Inbox<Chain, std::uint64_t>>> inboxes_;
  std::set<std::tuple<std::int64_t, int, std::uint64_t>> expected_;  // time, priority, token: tokens rise
  std::uint64_t tokens_ = 0;
  std::uint64_t executed_ = 0;
};

constexpr std::int64_t kNanosecond = 1000;
constexpr std::int64_t kMicrosecond = 1000 * kNanosecond;
constexpr std::int64_t kMillisecond = 1000 * kMicrosecond;

TEST(Calendar, OrdersWhatEntriesScheduleThemselves) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) Chain(seed, {30}, 40).run();
}

TEST(Calendar, OrdersFewEntriesFarApart) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) Chain(seed, {kNanosecond, kMicrosecond, 5 * kMillisecond}, 1).run();
}

// What the wheel holds, what is beyond it, and what is in between.
TEST(Calendar, OrdersManyEntriesOfAllDistances) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Chain(seed, {1, kNanosecond, 30 * kNanosecond, kMicrosecond, 5 * kMicrosecond, kMillisecond}, 400).run();
  }
}

// A crowd within a nanosecond, again and again, with others far behind.
TEST(Calendar, OrdersCrowds) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) Chain(seed, {2, 2, 2, 4 * kMicrosecond}, 1000).run();
}

// At both sides of what the wheel reaches, seen from its first slot.
TEST(Calendar, OrdersAtTheEndOfTheWheel) {
  constexpr std::int64_t kReach = EntryWheel::kSlots << EntryWheel::kLogSpan;
  Calendar calendar;
  Recorder recorder(calendar);
  std::vector<std::int64_t> times;
  for (std::int64_t place = -3; place <= 3; ++place) {
    for (const std::int64_t turn : {1, 2, 3}) times.push_back(turn * kReach + place * (kReach / 4096) + 7 * place);
  }
  for (std::int64_t i = 0; i < 100; ++i) times.push_back(i);  // more than are kept sorted
  std::shuffle(times.begin(), times.end(), std::mt19937_64(3));
  for (const std::int64_t when : times) {
    calendar.schedule(picoseconds(when), Priority::kLink, recorder, static_cast<std::uint64_t>(when));
  }
  std::sort(times.begin(), times.end());
  calendar.runUntil(kForever);
  ASSERT_EQ(recorder.seen.size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_EQ(recorder.seen[i].first.count(), times[i]);
}

// The first entry is far away; all that come later are before it.
TEST(Calendar, OneFarEntryDoesNotHoldUpThoseBeforeIt) {
  Calendar calendar;
  Recorder recorder(calendar);
  calendar.schedule(milliseconds(60'000), Priority::kControl, recorder, 300);
  for (std::uint64_t i = 300; i > 0; --i) {
    calendar.schedule(nanoseconds(static_cast<std::int64_t>(i)) * 7, Priority::kLink, recorder, i - 1);
  }
  calendar.runUntil(kForever);
  ASSERT_EQ(recorder.seen.size(), 301u);
  for (std::uint64_t i = 0; i <= 300; ++i) EXPECT_EQ(recorder.seen[i].second, i);
}

TEST(Timer, MovesAndCancels) {
  Calendar calendar;
  Block block(calendar);
  block.timer.set(nanoseconds(5));
  block.timer.set(nanoseconds(9));
  calendar.runUntil(nanoseconds(8));
  EXPECT_TRUE(block.fired.empty());
  block.timer.set(nanoseconds(8));
  calendar.runUntil(nanoseconds(20));
  EXPECT_EQ(block.fired, std::vector<Time>{nanoseconds(8)});
  block.timer.set(nanoseconds(25));
  block.timer.cancel();
  calendar.runUntil(nanoseconds(30));
  EXPECT_EQ(block.fired.size(), 1u);
}

TEST(KeyedTimers, EachKeyHasItsOwnDeadline) {
  Calendar calendar;
  Block block(calendar);
  block.timers.set(3, nanoseconds(5));
  block.timers.set(1, nanoseconds(2));
  block.timers.set(3, nanoseconds(7));
  block.timers.set(2, nanoseconds(6));
  block.timers.cancel(2);
  calendar.runUntil(nanoseconds(20));
  EXPECT_EQ(block.keys, (std::vector<std::pair<Time, std::uint32_t>>{{nanoseconds(2), 1}, {nanoseconds(7), 3}}));
}

}  // namespace
}  // namespace hca::kernel

// The one place where simulated events get their order.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "models/base/units.h"
#include "models/kernel/calendar_entry.h"
#include "models/kernel/entry_heap.h"
#include "models/kernel/entry_wheel.h"

namespace hca::kernel {

/// Who goes first among events of the same picosecond. Lower goes first.
/// The order is part of the timing contract: what hardware wrote at T, software that looks at T sees.
enum class Priority : std::uint8_t {
  kControl = 0,
  kHostMemory = 1,
  kLink = 2,
  kAdapter = 3,
  kNetwork = 4,
  kSoftware = 5
};

/// Something that acts when the calendar reaches one of its entries.
class CalendarClient {
 public:
  /// `token` is what was given to `Calendar::schedule`. Runs at `Calendar::now()` == the scheduled time.
  virtual void onCalendar(std::uint64_t token) = 0;

 protected:
  ~CalendarClient() = default;
};

/// A total order of all pending events: by (time, priority, sequence of scheduling). SystemC-free.
///
/// This is how the causality rule holds by construction: a block acts only when its entry is the earliest of the whole
/// system, so nothing with an earlier stamp can still reach a shared resource that it commits to.
class Calendar {
 public:
  Calendar() = default;
  Calendar(const Calendar&) = delete;
  Calendar& operator=(const Calendar&) = delete;

  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] bool empty() const { return nearCount_ == 0; }
  /// Time of the earliest entry, kForever if there is none.
  [[nodiscard]] Time next() const { return nearCount_ == 0 ? kForever : near_[nearFirst_].when; }
  /// Entries executed so far.
  [[nodiscard]] std::uint64_t executed() const { return executed_; }

  /// A place among the events of one time: by priority, then by when it was taken.
  class Turn {
    friend class Calendar;
    std::uint64_t order_ = 0;  // priority in the top byte, sequence below
  };
  Turn takeTurn(Priority priority) {
    Turn turn;
    turn.order_ = (static_cast<std::uint64_t>(priority) << kPriorityShift) | sequence_++;
    return turn;
  }

  /// Calls `client.onCalendar(token)` at `when`, which may not lie in the past. There is no cancel: a client that
  /// changes its mind ignores the call (see Timer).
  void schedule(Time when, Priority priority, CalendarClient& client, std::uint64_t token) {
    schedule(when, takeTurn(priority), client, token);
  }
  /// With a turn taken earlier. Until then the client must have an entry that is due no later than this one.
  void schedule(Time when, Turn turn, CalendarClient& client, std::uint64_t token);

  /// Executes the earliest entry. Precondition: !empty().
  void step();

  /// Executes entries up to and including `limit`; then `now()` is `limit` unless `stop()` was called, in which case
  /// it is the time of the entry that called it.
  void runUntil(Time limit);

  /// Lets time pass without an event: `when` must not be after `next()`.
  void advanceTo(Time when);

  /// Ends the current `runUntil` after the entry under way.
  void stop() { stopped_ = true; }
  [[nodiscard]] bool stopped() const { return stopped_; }
  void resume() { stopped_ = false; }

 private:
  using Slot = EntryWheel::Slot;

  CalendarEntry& nearAt(std::size_t place) { return near_[(nearFirst_ + place) % kNear]; }
  void insert(const CalendarEntry& entry) {
    place(CalendarEntry::key(entry.when, entry.order), entry.when, entry.order, entry.client, entry.token);
  }
  void place(WideInteger key, Time when, std::uint64_t order, CalendarClient* client, std::uint64_t token);
  CalendarEntry& makeRoom(WideInteger key);
  [[gnu::noinline]] bool split();
  [[gnu::noinline]] void refill();

  static constexpr unsigned kPriorityShift = 56;
  static constexpr std::size_t kNear = 64;
  static constexpr std::size_t kFew = 32;
  static constexpr Slot kNever = INT64_MAX;

  // Each entry is in one of three places:
  //  - the next ones, sorted, in a circle: in a small system all that are under way, which is cheaper than the wheel.
  //    Empty only if there is no entry at all;
  //  - from `wheelFrom_` on, a slot of the wheel, as far as that reaches;
  //  - the heap: what is later than the wheel reaches, and a crowd within a slot that the circle has no room for. All
  //    of it is behind the circle.
  std::array<CalendarEntry, kNear> near_{};
  std::size_t nearFirst_ = 0;
  std::size_t nearCount_ = 0;
  EntryWheel wheel_;
  Slot wheelFrom_ = 0;
  EntryHeap heap_;
  Time now_{};
  std::uint64_t sequence_ = 0;
  std::uint64_t executed_ = 0;
  bool stopped_ = false;
};

}  // namespace hca::kernel

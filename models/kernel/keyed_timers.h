// One deadline per queue pair (or other dense index), without one kernel object each.
#pragma once

#include <cstdint>
#include <vector>

#include "models/kernel/calendar.h"

namespace hca::kernel {

/// Many deadlines of one block, by a dense key. Each key has at most one live calendar entry; moving a deadline later
/// (the usual case: an acknowledgement restarts the time-out) touches nothing but a number.
template <class Owner>
class KeyedTimers final : private CalendarClient {
 public:
  using Handler = void (Owner::*)(std::uint32_t key);

  KeyedTimers(Calendar& calendar, Priority priority, Owner& owner, Handler handler)
      : calendar_(calendar), owner_(owner), handler_(handler), priority_(priority) {}

  void set(std::uint32_t key, Time deadline) {
    if (key >= timers_.size()) timers_.resize(key + 1);
    Entry& timer = timers_[key];
    timer.deadline = deadline;
    if (deadline < timer.scheduled) schedule(key, deadline);
  }
  void cancel(std::uint32_t key) {
    if (key < timers_.size()) timers_[key].deadline = kForever;
  }
  [[nodiscard]] Time deadline(std::uint32_t key) const {
    return key < timers_.size() ? timers_[key].deadline : kForever;
  }

 private:
  struct Entry {
    Time deadline = kForever;
    Time scheduled = kForever;
  };
  void schedule(std::uint32_t key, Time when) {
    timers_[key].scheduled = when;
    calendar_.schedule(when, priority_, *this, key);
  }
  void onCalendar(std::uint64_t token) override {
    const auto key = static_cast<std::uint32_t>(token);
    Entry& timer = timers_[key];
    const Time now = calendar_.now();
    if (now != timer.scheduled) return;  // an entry that an earlier one replaced
    timer.scheduled = kForever;
    if (timer.deadline == kForever) return;
    if (timer.deadline > now) return schedule(key, timer.deadline);
    timer.deadline = kForever;
    (owner_.*handler_)(key);
  }

  Calendar& calendar_;
  Owner& owner_;
  Handler handler_;
  Priority priority_;
  std::vector<Entry> timers_;
};

}  // namespace hca::kernel

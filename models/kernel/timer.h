// A deadline that can move or be cancelled.
#pragma once

#include <cstdint>

#include "models/kernel/calendar.h"

namespace hca::kernel {

/// Calls one member function of its owner at a deadline. Moving the deadline later, or cancelling it, costs nothing:
/// the pending calendar entry looks at the deadline when it comes up. For one deadline a block; a block with a
/// deadline per queue pair uses KeyedTimers.
template <class Owner>
class Timer final : private CalendarClient {
 public:
  using Handler = void (Owner::*)();

  Timer(Calendar& calendar, Priority priority, Owner& owner, Handler handler)
      : calendar_(calendar), owner_(owner), handler_(handler), priority_(priority) {}

  /// Sets or moves the deadline; the handler runs once.
  void set(Time deadline) {
    deadline_ = deadline;
    if (deadline < earliestEntry_) schedule(deadline);
  }
  void cancel() { deadline_ = kForever; }
  [[nodiscard]] bool isSet() const { return deadline_ != kForever; }
  [[nodiscard]] Time deadline() const { return deadline_; }

 private:
  void schedule(Time when) {
    earliestEntry_ = when;
    calendar_.schedule(when, priority_, *this, 0);
  }
  void onCalendar(std::uint64_t) override {
    const Time now = calendar_.now();
    if (now != earliestEntry_) return;  // an entry that an earlier one replaced
    earliestEntry_ = kForever;
    if (deadline_ == kForever) return;
    if (deadline_ > now) return schedule(deadline_);
    deadline_ = kForever;
    (owner_.*handler_)();
  }

  Calendar& calendar_;
  Owner& owner_;
  Handler handler_;
  Priority priority_;
  Time deadline_ = kForever;
  Time earliestEntry_ = kForever;
};

}  // namespace hca::kernel

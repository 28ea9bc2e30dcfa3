#include "models/kernel/calendar_module.h"

#include "models/kernel/activation_counter.h"

namespace hca::kernel {

sc_core::sc_time toScTime(Time time) { return sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(time.count())); }
Time fromScTime(const sc_core::sc_time& time) { return Time(static_cast<std::int64_t>(time.value())); }

CalendarModule::CalendarModule(const sc_core::sc_module_name& name, Time quantum)
    : sc_core::sc_module(name), quantum_(quantum) {
  SC_METHOD(drain);
  sensitive << wake_;
}

void CalendarModule::wake() { wake_.notify(sc_core::SC_ZERO_TIME); }

void CalendarModule::synchronise() {
  const Time kernelNow = fromScTime(sc_core::sc_time_stamp());
  if (calendar_.now() < kernelNow) calendar_.advanceTo(earlier(kernelNow, calendar_.next()));
}

// The time up to which entries may execute now. Another process due at T may still schedule at T, so only entries
// before T are safe; an entry at the kernel's own present always is.
Time CalendarModule::horizon() const {
  const Time kernelNow = fromScTime(sc_core::sc_time_stamp());
  if (sc_core::sc_pending_activity_at_current_time()) return kernelNow;
  Time limit = kernelNow + quantum_;
  if (sc_core::sc_pending_activity_at_future_time()) {
    const Time foreign = kernelNow + fromScTime(sc_core::sc_time_to_pending_activity());
    limit = earlier(limit, foreign - picoseconds(1));
  }
  return earlier(later(limit, kernelNow), limit_);
}

void CalendarModule::drain() {
  countActivation();
  calendar_.resume();
  drainedAt_ = fromScTime(sc_core::sc_time_stamp());
  draining_ = true;
  Time limit = horizon();
  while (!calendar_.stopped() && !calendar_.empty() && calendar_.next() <= limit) {
    calendar_.step();
    if (horizonIsStale_) limit = horizon();
    horizonIsStale_ = false;
  }
  draining_ = false;
  rearm();
}

void CalendarModule::rearm() {
  if (calendar_.stopped()) sc_core::sc_pause();
  if (calendar_.empty() || calendar_.next() > limit_) {
    next_trigger(wake_);
    return;
  }
  const Time kernelNow = fromScTime(sc_core::sc_time_stamp());
  const Time wait = later(calendar_.next() - kernelNow, picoseconds(0));
  next_trigger(toScTime(wait), wake_);
}

}  // namespace hca::kernel

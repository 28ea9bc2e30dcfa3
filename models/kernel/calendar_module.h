// The SystemC shell of the calendar.
#pragma once

#include <systemc>

#include "models/base/units.h"
#include "models/kernel/calendar.h"

namespace hca::kernel {

/// Runs a Calendar under the SystemC kernel, temporally decoupled in the sense of TLM-2.0 (IEEE 1666-2011, 11.1.2):
/// one activation executes all entries up to a horizon, which is the earlier of
///  - `quantum` after the activation, and
///  - the next time at which any other SystemC process or event is due,
/// so that foreign SystemC modules plugged into a TLM socket never see an entry that lies in their future executed.
/// `sc_time_stamp()` lags behind `Calendar::now()` by less than the quantum; models use `Calendar::now()` alone.
///
/// A quantum of zero executes one time stamp an activation (the slow reference that tests compare with).
/// Whoever schedules from outside of the calendar (a foreign process, the code around sc_start) calls `wake()`.
class CalendarModule : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(CalendarModule);
  explicit CalendarModule(const sc_core::sc_module_name& name, Time quantum = microseconds(10));

  [[nodiscard]] Calendar& calendar() { return calendar_; }

  /// Executes nothing later than `limit`, however long sc_start goes on. kForever (as at construction): no limit.
  void setLimit(Time limit) { limit_ = limit; }

  /// Re-evaluates the earliest entry after a schedule from outside.
  void wake();
  /// Brings `Calendar::now()` up to `sc_time_stamp()`; a foreign process calls this before it schedules.
  void synchronise();
  /// Whether entries are being executed, so that `wake()` isn't needed.
  [[nodiscard]] bool isDraining() const { return draining_; }
  /// `sc_time_stamp()`; cheap while entries are being executed.
  [[nodiscard]] Time kernelTime() const {
    return draining_ ? drainedAt_ : Time(static_cast<std::int64_t>(sc_core::sc_time_stamp().value()));
  }
  /// The time that a TLM call with `delay` means.
  [[nodiscard]] Time timeOf(const sc_core::sc_time& delay) const {
    return kernelTime() + Time(static_cast<std::int64_t>(delay.value()));
  }
  /// The delay of a TLM call that means `when`; zero for a time that has passed.
  [[nodiscard]] sc_core::sc_time delayUntil(Time when) const {
    const std::int64_t ahead = (when - kernelTime()).count();
    if (ahead <= 0) return {};
    // Exact so far, and inline, unlike from_value: every TLP comes through here.
    if (ahead < kExactInDouble) return picosecond_ * static_cast<double>(ahead);
    return sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(ahead));
  }
  /// An entry called into a foreign module, which may have notified an event earlier than the horizon: looks again
  /// before the next entry.
  void refreshHorizon() {
    horizonIsStale_ = true;
    ++refreshes_;
  }
  /// How often that was asked for.
  [[nodiscard]] std::uint64_t refreshes() const { return refreshes_; }

 private:
  static constexpr std::int64_t kExactInDouble = std::int64_t{1} << 53;

  void drain();
  [[nodiscard]] Time horizon() const;
  void rearm();

  Calendar calendar_;
  Time quantum_;
  Time limit_ = kForever;
  sc_core::sc_event wake_{"wake"};
  Time drainedAt_{};  // sc_time_stamp() while draining
  bool draining_ = false;
  bool horizonIsStale_ = false;
  std::uint64_t refreshes_ = 0;
  const sc_core::sc_time picosecond_ = sc_core::sc_time::from_value(1);
};

/// Between SystemC's unsigned 64-bit picoseconds and ours.
[[nodiscard]] sc_core::sc_time toScTime(Time time);
[[nodiscard]] Time fromScTime(const sc_core::sc_time& time);

}  // namespace hca::kernel

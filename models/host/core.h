// One core: who runs on it, and when.
#pragma once

#include <cstdint>

#include "models/base/units.h"
#include "models/kernel/calendar.h"
#include "models/kernel/ring_queue.h"
#include "models/kernel/timer.h"

namespace hca::host {

/// Serialises the work of one core. Work of threads is served first come, first served; a piece of work is its cost
/// followed by a call, in which the owner may charge more. Interrupt handlers start at once, one after the other, and
/// push what they interrupt back by their cost. Threads that poll in vain use the core only while nobody else wants it,
/// as if they yielded after each empty poll, so that two programs that wait for each other can share a core.
///
/// All calls are made at Calendar::now(). Costs are never negative.
class Core {
 public:
  explicit Core(kernel::Calendar& calendar);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  /// Queues thread work: occupies the core for `cost` once it is free, then calls `client.onCalendar(token)`.
  void execute(Time cost, kernel::CalendarClient& client, std::uint64_t token);
  /// Occupies the core for `cost` more, right behind the thread work that ran last.
  void charge(Time cost);

  /// An interrupt: preempts thread work for `cost`, then calls `client.onCalendar(token)` (the handler).
  void interrupt(Time cost, kernel::CalendarClient& client, std::uint64_t token);
  /// From within a handler's call: the handler goes on for `cost` and is called again, before any other interrupt.
  /// At most once a call.
  void continueInterrupt(Time cost, kernel::CalendarClient& client, std::uint64_t token);
  /// From within a handler's call: it takes `cost` more before it returns.
  void chargeInterrupt(Time cost);

  /// A thread starts to poll in vain, every `period` from the end of the thread work that ran last.
  void startSpinning(Time period);
  /// What it polls for became true: ends its spinning and calls `client.onCalendar(token)` at the start of its first
  /// poll from now on; `offset` into its period if it polls several things in turn.
  void stopSpinning(Time period, Time offset, kernel::CalendarClient& client, std::uint64_t token);

  /// Time spent so far in thread work and in handlers, accounted when it begins; spinning is neither.
  [[nodiscard]] Time threadTime() const { return threadTime_; }
  [[nodiscard]] Time interruptTime() const { return interruptTime_; }
  [[nodiscard]] std::uint64_t interrupts() const { return interrupts_; }

 private:
  struct Work {
    Time cost;
    kernel::CalendarClient* client = nullptr;
    std::uint64_t token = 0;
  };
  void onThreadTimer();
  void onHandlerTimer();
  void startThread(Time start);
  void startHandler(const Work& work);
  void occupyByHandler(Time cost);
  [[nodiscard]] Time threadReadyAt() const;
  [[nodiscard]] Time firstPoll(Time offset) const;

  kernel::Calendar& calendar_;
  kernel::RingQueue<Work> threads_;
  kernel::Timer<Core> threadTimer_;  // set: the front of `threads_` has its start; its call is due then
  Time threadFreeAt_{};              // end of the thread work that ran last; origin of the poll grid
  Time spinPeriod_{};                // sum of the periods of all spinning threads, which take turns

  kernel::RingQueue<Work> handlers_;  // waiting
  Work handler_;                      // under way
  Work continuation_;                 // what the handler whose call is under way wants next
  kernel::Timer<Core> handlerTimer_;
  bool handling_ = false;
  Time handlerFreeAt_{};

  Time threadTime_{};
  Time interruptTime_{};
  std::uint64_t interrupts_ = 0;
};

}  // namespace hca::host

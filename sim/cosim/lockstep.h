// How far simulated time may go, by the clocks of program threads.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/units.h"

namespace hca::cosim {

/// Each thread of each program has a clock. The simulation may run to the least clock of all threads that could still
/// act earlier: those that run, and those whose call takes effect at a time. Threads that wait for something to happen,
/// or are away (in a foreign call, or computing for long), hold nothing up.
class Lockstep {
 public:
  using Thread = std::uint32_t;
  enum class State : std::uint8_t { kGone, kRunning, kUntil, kWaiting, kAway };

  Thread add(Time now);
  /// Gives a removed thread's number to another one.
  void revive(Thread thread, Time now) { threads_[thread] = {State::kRunning, now}; }
  void remove(Thread thread) { threads_[thread].state = State::kGone; }

  [[nodiscard]] State state(Thread thread) const { return threads_[thread].state; }
  [[nodiscard]] Time clock(Thread thread) const { return threads_[thread].clock; }
  [[nodiscard]] std::size_t size() const { return threads_.size(); }

  /// The thread does something at its clock, which is not before `now`.
  void arrive(Thread thread, Time now) { threads_[thread].clock = later(threads_[thread].clock, now); }
  void charge(Thread thread, Time cost) { threads_[thread].clock += cost; }
  /// It goes on with its own work, at `at` or at its clock if that is later.
  void run(Thread thread, Time at) { set(thread, State::kRunning, at); }
  /// It goes on when the simulation has reached its clock.
  void waitUntilClock(Thread thread) { threads_[thread].state = State::kUntil; }
  void wait(Thread thread) { threads_[thread].state = State::kWaiting; }
  void leave(Thread thread) { threads_[thread].state = State::kAway; }

  /// kForever if no thread holds the simulation up.
  [[nodiscard]] Time horizon() const;
  /// The same for threads alone that are in state `only`.
  [[nodiscard]] Time horizon(State only) const;
  /// The same for all threads but `thread`.
  [[nodiscard]] Time horizonWithout(Thread thread) const;
  [[nodiscard]] bool any(State state) const;

 private:
  struct Entry {
    State state = State::kRunning;
    Time clock{};
  };
  void set(Thread thread, State state, Time at) {
    threads_[thread].state = state;
    arrive(thread, at);
  }
  std::vector<Entry> threads_;
};

}  // namespace hca::cosim

// One thread of software on one core.
#pragma once

#include <cstdint>

#include "models/base/units.h"
#include "models/host/core.h"
#include "models/host/cpu_config.h"
#include "models/kernel/calendar.h"

namespace hca::host {

/// A thread as a sequence of steps. A step is a call of the thread's client, at the time at which the thread runs; what
/// it does takes effect at once in the model and is charged here, and the thread's next step comes after that. A step
/// ends by naming how the thread goes on: after its cost, spinning, asleep; or names nothing and leaves the thread
/// idle.
///
/// Preconditions: at most one way to go on is named a step; a thread that isn't idle names none.
class SoftwareThread final : private kernel::CalendarClient {
 public:
  SoftwareThread(kernel::Calendar& calendar, Core& core, const CpuConfig& config);
  SoftwareThread(const SoftwareThread&) = delete;
  SoftwareThread& operator=(const SoftwareThread&) = delete;

  /// Adds to the cost of the step under way (or, outside of a step, of the next).
  void charge(Time cost) { pending_ += cost; }
  /// Where the thread is: now, and what was charged since. A register write issued now leaves the core then.
  [[nodiscard]] Time time() const { return calendar_.now() + pending_; }
  [[nodiscard]] Core& core() const { return core_; }

  /// The next step comes when the charged cost has passed, behind other work that waits for the core.
  void afterCost(kernel::CalendarClient& client, std::uint64_t token);

  /// Polls in vain, a poll each `period`, the first after the charged cost, until `found`.
  void spin(Time period, kernel::CalendarClient& client, std::uint64_t token);
  /// The condition became true now: the next step comes at the start of the first poll from now on. `offset`: how far
  /// into a round of several polls the one lies that looks at this condition.
  void found(Time offset = Time());
  [[nodiscard]] bool isSpinning() const { return state_ == State::kSpinning; }

  /// Gives the core up after the charged cost, until `wake`.
  void sleep(kernel::CalendarClient& client, std::uint64_t token);
  /// Makes a sleeping thread run after the wake-up latency, which depends on whether `waker`, the core whose handler
  /// calls this, is the thread's own. False, and nothing happens, if it doesn't sleep (or was woken already).
  bool wake(const Core& waker);
  [[nodiscard]] bool isAsleep() const { return state_ == State::kSleeping; }

  /// Gives the core up after the charged cost, for `span`.
  void sleepFor(Time span, kernel::CalendarClient& client, std::uint64_t token);

  [[nodiscard]] bool isIdle() const { return state_ == State::kIdle; }

 private:
  enum class State : std::uint8_t { kIdle, kReady, kSpinning, kSleeping, kWaking };
  enum Event : std::uint64_t { kStep, kAwake };
  void onCalendar(std::uint64_t token) override;
  void goOn(State state, kernel::CalendarClient& client, std::uint64_t token);
  void settle();

  kernel::Calendar& calendar_;
  Core& core_;
  Time wakeUpSameCore_;
  Time wakeUpOtherCore_;
  kernel::CalendarClient* client_ = nullptr;
  std::uint64_t token_ = 0;
  Time pending_{};     // charged and not yet passed on to the core
  Time spinPeriod_{};  // of the wait under way
  State state_ = State::kIdle;
  bool inStep_ = false;
};

}  // namespace hca::host

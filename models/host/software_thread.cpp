#include "models/host/software_thread.h"

#include <cassert>
#include <utility>

namespace hca::host {

SoftwareThread::SoftwareThread(kernel::Calendar& calendar, Core& core, const CpuConfig& config)
    : calendar_(calendar),
      core_(core),
      wakeUpSameCore_(config.wakeUpSameCore),
      wakeUpOtherCore_(config.wakeUpOtherCore) {}

void SoftwareThread::goOn(State state, kernel::CalendarClient& client, std::uint64_t token) {
  assert(state_ == State::kIdle && "a thread goes on in one way at a time");
  state_ = state;
  client_ = &client;
  token_ = token;
}

// What the step cost occupies the core right behind it, before anybody else's work.
void SoftwareThread::settle() {
  if (pending_ > Time()) core_.charge(std::exchange(pending_, Time()));
}

void SoftwareThread::afterCost(kernel::CalendarClient& client, std::uint64_t token) {
  goOn(State::kReady, client, token);
  if (inStep_) settle();
  core_.execute(std::exchange(pending_, Time()), *this, kStep);
}

void SoftwareThread::spin(Time period, kernel::CalendarClient& client, std::uint64_t token) {
  goOn(State::kSpinning, client, token);
  spinPeriod_ = period;
  settle();
  core_.startSpinning(period);
}

void SoftwareThread::found(Time offset) {
  assert(isSpinning());
  state_ = State::kReady;
  core_.stopSpinning(spinPeriod_, offset, *this, kStep);
}

void SoftwareThread::sleep(kernel::CalendarClient& client, std::uint64_t token) {
  goOn(State::kSleeping, client, token);
  settle();
}

bool SoftwareThread::wake(const Core& waker) {
  if (!isAsleep()) return false;
  state_ = State::kWaking;
  const Time latency = &waker == &core_ ? wakeUpSameCore_ : wakeUpOtherCore_;
  calendar_.schedule(calendar_.now() + latency, kernel::Priority::kSoftware, *this, kAwake);
  return true;
}

void SoftwareThread::sleepFor(Time span, kernel::CalendarClient& client, std::uint64_t token) {
  goOn(State::kWaking, client, token);
  const Time end = time() + span;
  settle();
  calendar_.schedule(end, kernel::Priority::kSoftware, *this, kAwake);
}

void SoftwareThread::onCalendar(std::uint64_t token) {
  if (token == kAwake) {
    state_ = State::kReady;
    core_.execute(Time(), *this, kStep);
    return;
  }
  state_ = State::kIdle;
  inStep_ = true;
  std::exchange(client_, nullptr)->onCalendar(token_);
  inStep_ = false;
  settle();  // charged by a step that named no way to go on, or after it did
}

}  // namespace hca::host

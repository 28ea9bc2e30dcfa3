#include "models/host/core.h"

#include <cassert>
#include <utility>

#include "models/host/poll_grid.h"

namespace hca::host {

Core::Core(kernel::Calendar& calendar)
    : calendar_(calendar),
      threadTimer_(calendar, kernel::Priority::kSoftware, *this, &Core::onThreadTimer),
      handlerTimer_(calendar, kernel::Priority::kSoftware, *this, &Core::onHandlerTimer) {}

Time Core::threadReadyAt() const { return later(calendar_.now(), later(threadFreeAt_, handlerFreeAt_)); }

// Polls under way are not cut short: whoever wants the core, or the answer, waits for the next one to begin.
Time Core::firstPoll(Time offset) const {
  return pollGrid(threadFreeAt_ + offset, spinPeriod_, later(calendar_.now(), handlerFreeAt_));
}

void Core::execute(Time cost, kernel::CalendarClient& client, std::uint64_t token) {
  const Time start = spinPeriod_ > Time() ? firstPoll(Time()) : threadReadyAt();
  threads_.push({cost, &client, token});
  if (threads_.size() == 1) startThread(start);
}

void Core::startThread(Time start) {
  threadTime_ += threads_.front().cost;
  threadTimer_.set(start + threads_.front().cost);
}

void Core::onThreadTimer() {
  const Work work = threads_.pop();
  threadFreeAt_ = calendar_.now();
  work.client->onCalendar(work.token);
  if (!threads_.empty() && !threadTimer_.isSet()) startThread(threadReadyAt());
}

void Core::charge(Time cost) {
  threadFreeAt_ = threadReadyAt() + cost;
  threadTime_ += cost;
  if (threadTimer_.isSet()) threadTimer_.set(threadTimer_.deadline() + cost);
}

void Core::startSpinning(Time period) {
  assert(period > Time());
  if (spinPeriod_ == Time()) threadFreeAt_ = threadReadyAt();
  spinPeriod_ += period;
}

void Core::stopSpinning(Time period, Time offset, kernel::CalendarClient& client, std::uint64_t token) {
  const Time start = firstPoll(offset);
  spinPeriod_ -= period;
  threads_.push({Time(), &client, token});
  if (threads_.size() == 1) startThread(start);
}

void Core::interrupt(Time cost, kernel::CalendarClient& client, std::uint64_t token) {
  ++interrupts_;
  const Work work{cost, &client, token};
  if (handling_) {
    handlers_.push(work);
  } else {
    handling_ = true;
    handlerFreeAt_ = calendar_.now();
    startHandler(work);
  }
}

void Core::startHandler(const Work& work) {
  handler_ = work;
  occupyByHandler(work.cost);
  handlerTimer_.set(handlerFreeAt_);
}

// Thread work that is under way or due goes on `cost` later, and so do the polls of spinning threads.
void Core::occupyByHandler(Time cost) {
  interruptTime_ += cost;
  handlerFreeAt_ += cost;
  if (threadFreeAt_ > calendar_.now() || spinPeriod_ > Time()) threadFreeAt_ += cost;
  if (threadTimer_.isSet()) threadTimer_.set(threadTimer_.deadline() + cost);
}

void Core::onHandlerTimer() {
  handler_.client->onCalendar(handler_.token);
  if (continuation_.client != nullptr) {
    startHandler(std::exchange(continuation_, Work()));
  } else if (!handlers_.empty()) {
    startHandler(handlers_.pop());
  } else {
    handling_ = false;
  }
}

void Core::continueInterrupt(Time cost, kernel::CalendarClient& client, std::uint64_t token) {
  assert(handling_ && continuation_.client == nullptr);
  continuation_ = {cost, &client, token};
}

void Core::chargeInterrupt(Time cost) {
  assert(handling_);
  occupyByHandler(cost);
}

}  // namespace hca::host

#include "sim/workload/completion_waiter.h"

#include <utility>

namespace hca::sim {

CompletionWaiter::CompletionWaiter(driver::VerbsClient& client, const std::vector<driver::CqHandle>& queues,
                                   Settings settings)
    : client_(client), queues_(queues), settings_(settings) {
  completions_.reserve(kBatch * queues.size());
}

void CompletionWaiter::wait(std::function<void()> ready) {
  ready_ = std::move(ready);
  completions_.clear();
  switch (nextOrder()) {
    case EventOrder::kOff:
      return client_.whenNotEmpty(queues_, [this](driver::CqHandle queue) { spin(queue); });
    case EventOrder::kAdaptive:
      return client_.whenNotEmptyUntil(queues_, client_.threadTime() + settings_.spin,
                                       [this](driver::CqHandle queue) { endSpin(queue); });
    default:
      return client_.afterCost([this] { pollBeforeArm(); });
  }
}

EventOrder CompletionWaiter::nextOrder() {
  if (settings_.order != EventOrder::kTurns) return settings_.order;
  return waits_++ / settings_.turn % 2 == 0 ? EventOrder::kOff : EventOrder::kSafe;
}

void CompletionWaiter::waitUntil(Time deadline, std::function<void()> ready) {
  ready_ = std::move(ready);
  completions_.clear();
  client_.whenNotEmptyUntil(queues_, deadline, [this](driver::CqHandle queue) {
    client_.poll(queue, kBatch, completions_);
    const auto next = std::move(ready_);
    next();
  });
}

void CompletionWaiter::spin(driver::CqHandle queue) {
  client_.poll(queue, kBatch, completions_);
  // An entry that software handles by itself (a signature error) ends a poll without a completion.
  if (completions_.empty()) return wait(std::move(ready_));
  const auto ready = std::move(ready_);
  ready();
}

// In vain for long enough: the queues are empty but for what comes now.
void CompletionWaiter::endSpin(driver::CqHandle queue) {
  client_.poll(queue, kBatch, completions_);
  if (completions_.empty()) return client_.afterCost([this] { pollBeforeArm(); });
  const auto ready = std::move(ready_);
  ready();
}

bool CompletionWaiter::pollAll() {
  for (const driver::CqHandle queue : queues_) client_.poll(queue, kBatch, completions_);
  if (completions_.empty()) return false;
  const auto ready = std::move(ready_);
  ready();
  return true;
}

void CompletionWaiter::pollBeforeArm() {
  if (pollAll()) return;
  client_.afterCost([this] {
    if (onGap) onGap();
    client_.compute(settings_.gap);
    client_.afterCost([this] { armAll(); });
  });
}

void CompletionWaiter::armAll() {
  for (const driver::CqHandle queue : queues_) client_.arm(queue, settings_.solicitedOnly);
  if (settings_.order == EventOrder::kUnsafe) return sleep();
  client_.afterArm([this] { pollAfterArm(); });
}

void CompletionWaiter::pollAfterArm() {
  if (!pollAll()) sleep();
}

void CompletionWaiter::sleep() {
  client_.waitForEvent([this](driver::CqHandle queue) { wake(queue); });
  if (onSleep) onSleep();
}

void CompletionWaiter::wake(driver::CqHandle queue) {
  ++events_;
  client_.acknowledge(queue, 1);
  client_.afterCost([this] { pollBeforeArm(); });
}

}  // namespace hca::sim

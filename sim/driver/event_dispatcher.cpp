#include "sim/driver/event_dispatcher.h"

#include <algorithm>
#include <cassert>

#include "models/host/core.h"
#include "models/wire/mmio_map.h"
#include "sim/driver/device_registers.h"

namespace hca::driver {

EventDispatcher::EventDispatcher(DriverEnvironment& environment, EventTarget& target)
    : environment_(environment), target_(target) {}

void EventDispatcher::add(EqNumber number, InterruptVector vector, UarIndex uar, const EventRing& ring) {
  if (vector.value() >= vectors_.size()) vectors_.resize(vector.value() + 1);
  std::vector<Queue>& queues = vectors_[vector.value()].queues;
  queues.push_back(Queue{number, uar, ring});
  writeDoorbell(queues.back(), wire::UarPage::kEqArm);
}

EventRing EventDispatcher::remove(EqNumber number) {
  for (Vector& vector : vectors_) {
    if (Queue* queue = find(vector, number)) {
      const EventRing ring = queue->ring;
      vector.queues.erase(vector.queues.begin() + (queue - vector.queues.data()));
      return ring;
    }
  }
  assert(false && "no such queue");
  return EventRing({}, 0);
}

EventDispatcher::Queue* EventDispatcher::find(Vector& vector, EqNumber number) {
  const auto at = std::find_if(vector.queues.begin(), vector.queues.end(),
                               [number](const Queue& queue) { return queue.number == number; });
  return at == vector.queues.end() ? nullptr : &*at;
}

void EventDispatcher::onInterrupt(InterruptVector vector) {
  if (vector.value() >= vectors_.size()) return;  // a vector nobody set a queue on
  coreOf(vector).interrupt(environment_.cpu.config().interruptEntry, *this, vector.value());
}

void EventDispatcher::onCalendar(std::uint64_t token) {
  const InterruptVector number(static_cast<std::uint32_t>(token));
  host::Core& core = coreOf(number);
  if (vectors_[token].charged) {
    vectors_[token].charged = false;
    Queue* queue = find(vectors_[token], vectors_[token].chargedQueue);
    if (queue != nullptr) takeEntry(*queue, core);
  }
  Vector& vector = vectors_[token];  // an entry's owner may have added queues
  for (const Queue& queue : vector.queues) {
    if (!queue.ring.next()) continue;
    vector.charged = true;
    vector.chargedQueue = queue.number;
    return core.continueInterrupt(environment_.cpu.config().eqeHandling, *this, token);
  }
  for (Queue& queue : vector.queues) {
    core.chargeInterrupt(environment_.cpu.config().doorbell);
    writeDoorbell(queue, wire::UarPage::kEqArm);
  }
}

std::uint32_t EventDispatcher::recover(EqNumber number) {
  for (std::size_t v = 0; v < vectors_.size(); ++v) {
    std::uint32_t taken = 0;
    Queue* queue = find(vectors_[v], number);
    for (; queue != nullptr && queue->ring.next(); queue = find(vectors_[v], number), ++taken) {
      takeEntry(*queue, coreOf(InterruptVector(static_cast<std::uint32_t>(v))));
    }
    if (queue != nullptr) writeDoorbell(*queue, wire::UarPage::kEqArm);
    if (queue != nullptr) return taken;
  }
  return 0;
}

void EventDispatcher::takeEntry(Queue& queue, host::Core& core) {
  const auto eqe = queue.ring.next();
  if (!eqe) return;
  queue.ring.consume();
  ++entries_;
  if (queue.ring.unreported() >= EventRing::kSpareEntries) writeDoorbell(queue, wire::UarPage::kEqUpdate);
  dispatch(*eqe, core);
}

void EventDispatcher::dispatch(const wire::Eqe& eqe, host::Core& core) {
  switch (static_cast<wire::EventType>(eqe.type)) {
    case wire::EventType::kCompletion:
      return target_.onCompletionEntry(CqNumber(wire::eventData<wire::CompletionEvent>(eqe).cq.host() & 0xFFFFFF),
                                       core);
    case wire::EventType::kCommandCompletion:
      return target_.onCommandEntry(wire::eventData<wire::CommandEvent>(eqe).slots.host());
    case wire::EventType::kPageRequest: {
      const auto request = wire::eventData<wire::PageRequestEvent>(eqe);
      return target_.onPageRequestEntry(request.function.host(), static_cast<std::int32_t>(request.pages.host()));
    }
    default:
      return target_.onAsyncEntry(eqe);
  }
}

void EventDispatcher::writeDoorbell(Queue& queue, std::uint64_t registerOffset) {
  writeRegister(environment_.function, wire::uarOffset(queue.uar.value()) + registerOffset,
                queue.ring.doorbell(queue.number));
}

}  // namespace hca::driver

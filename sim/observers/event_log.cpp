#include "sim/observers/event_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/logging/time_text.h"

namespace hca::observers {

namespace {

using observe::CqAction;
using observe::CqEvent;
using observe::InterruptEvent;

std::string completions(std::uint64_t n) {
  return n == 1 ? std::string("1 completion") : fmt::format("{} completions", n);
}

}  // namespace

EventLog::EventLog(observe::Probes& probes, std::ostream& stream, Settings settings)
    : stream_(stream), settings_(std::move(settings)) {
  probes.cq.attach([this](const CqEvent& event) {
    if (!settings_.showsQueue || settings_.showsQueue(event)) hold(event.time, event);
  });
  probes.interrupt.attach([this](const InterruptEvent& event) {
    if (!settings_.showsInterrupt || settings_.showsInterrupt(event)) hold(event.time, event);
  });
}

void EventLog::hold(Time time, const Event& event) {
  const auto isLater = [](const Held& a, const Held& b) {
    return std::pair(b.time, b.sequence) < std::pair(a.time, a.sequence);
  };
  held_.push_back({time, sequence_++, event});
  std::push_heap(held_.begin(), held_.end(), isLater);
  release(settings_.now());
}

// Whatever is reported from now on takes effect now or later.
void EventLog::release(Time until) {
  const auto isLater = [](const Held& a, const Held& b) {
    return std::pair(b.time, b.sequence) < std::pair(a.time, a.sequence);
  };
  while (!held_.empty() && held_.front().time <= until) {
    std::pop_heap(held_.begin(), held_.end(), isLater);
    const Held next = std::move(held_.back());
    held_.pop_back();
    if (told_ < next.time) conclude();
    told_ = next.time;
    std::visit([this](const auto& event) { tell(event); }, next.event);
  }
}

void EventLog::finish() {
  release(kForever);
  conclude();
  stream_.flush();
}

void EventLog::conclude() {
  for (auto& [key, queue] : queues_) {
    for (const ArmRaceSteps::Conclusion& conclusion : queue.steps.conclude()) {
      line(told_, conclusion.step, {std::get<HostIndex>(key), std::get<AdapterIndex>(key)},
           conclusion.step == 4 ? "adapter" : "software",
           fmt::format("CQ {:#x}: {}", std::get<CqNumber>(key).value(), conclusion.text));
    }
  }
}

// "1"; an adapter beyond the host's first is named, "1.2".
void EventLog::line(Time time, int step, Place place, const char* who, const std::string& what) {
  const std::string stepText = step == 0 ? std::string() : fmt::format("step {}", step);
  std::string placeText = std::to_string(place.host.value());
  if (place.adapter.value() != 0) placeText += '.' + std::to_string(place.adapter.value());
  stream_ << fmt::format("{:>12} us  {:<7}  host {}  {:<8}  {}\n", microsecondsText(time), stepText, placeText, who,
                         what);
}

void EventLog::tell(const InterruptEvent& event) {
  const std::uint32_t vector = event.vector.value();
  switch (event.action) {
    case InterruptEvent::Action::kMessageSent:
      return line(event.time, 0, {event.host, event.adapter}, "adapter",
                  fmt::format("interrupt {}: the message leaves", vector));
    case InterruptEvent::Action::kMaskedPending:
      return line(event.time, 0, {event.host, event.adapter}, "adapter",
                  fmt::format("interrupt {}: masked, it stays pending", vector));
    case InterruptEvent::Action::kDelivered:
      return line(event.time, 0, {event.host, event.adapter}, "host",
                  fmt::format("interrupt {}: delivered to its core", vector));
  }
}

void EventLog::tell(const CqEvent& event) {
  Queue& queue = queues_.try_emplace(Key(event.host, event.adapter, event.cq), settings_.order).first->second;
  const int step = queue.steps.on(event);
  line(event.time, step, {event.host, event.adapter}, actor(event.action),
       fmt::format("CQ {:#x}: {}", event.cq.value(), text(event, queue)));
  follow(queue, event);
}

void EventLog::follow(Queue& queue, const CqEvent& event) {
  switch (event.action) {
    case CqAction::kCqeVisible:
      queue.visible = std::max(queue.visible, event.index + 1);
      return;
    case CqAction::kResized:
      // Software moves what it hasn't taken one index up.
      queue.polled = std::min(queue.visible, queue.polled) + 1;
      queue.visible = std::max(queue.visible, event.index + 1);
      return;
    case CqAction::kPolled:
      queue.polled = std::max(queue.polled, event.index + 1);
      return;
    case CqAction::kArmArrived:
      queue.armed = true;
      return;
    case CqAction::kEventFired:
      queue.armed = false;
      queue.announced = event.index;
      return;
    default:
      return;
  }
}

const char* EventLog::actor(CqAction action) {
  switch (action) {
    case CqAction::kArmIssued:
    case CqAction::kPolled:
    case CqAction::kPolledEmpty:
    case CqAction::kSleep:
    case CqAction::kWake:
      return "software";
    case CqAction::kEventDelivered:
      return "driver";
    default:
      return "adapter";
  }
}

std::string EventLog::text(const CqEvent& event, const Queue& queue) {
  const std::uint64_t waiting = queue.visible - std::min(queue.visible, queue.polled);
  switch (event.action) {
    case CqAction::kArmIssued:
      return event.solicitedOnly ? "arms: asks for an event at the next solicited one"
                                 : "arms: asks for an event at the next completion";
    case CqAction::kPolled:
      return fmt::format("polls and takes completion {}", event.index);
    case CqAction::kPolledEmpty:
      return "polls and finds nothing";
    case CqAction::kSleep:
      return "goes to sleep" + (waiting == 0 ? std::string() : ", " + completions(waiting) + " unpolled");
    case CqAction::kWake:
      return "wakes up";
    case CqAction::kEventDelivered:
      return "hands the event to the completion channel";
    default:
      return hardwareText(event, queue);
  }
}

// The adapter decides when it hands an entry over, a little before host memory has it.
const char* EventLog::armStateText(const CqEvent& event, const Queue& queue) {
  if (event.index + 1 == queue.announced) return "its event is on its way";
  return queue.armed ? "the queue is armed" : "not armed: no event";
}

std::string EventLog::hardwareText(const CqEvent& event, const Queue& queue) {
  const std::uint64_t waiting = queue.visible - std::min(queue.visible, queue.polled);
  switch (event.action) {
    case CqAction::kCqeVisible:
      return fmt::format("completion {} is in memory; {}", event.index, armStateText(event, queue));
    case CqAction::kArmArrived:
      return waiting == 0 ? "the arm arrives; it covers the next completion"
                          : "the arm arrives; it covers later completions only";
    case CqAction::kArmIgnored:
      return "ignores the arm: its sequence number was served";
    case CqAction::kEventFired:
      return "raises an event: writes to the event queue";
    case CqAction::kOverrun:
      return fmt::format("completion {} finds the queue full", event.index);
    case CqAction::kEntryLost:
      return fmt::format("completion {} is overwritten, never polled", event.index);
    case CqAction::kResized:
      return fmt::format("entry {} ends the old ring: resized", event.index);
    default:
      return {};
  }
}

}  // namespace hca::observers

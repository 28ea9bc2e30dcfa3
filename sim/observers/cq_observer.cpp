#include "sim/observers/cq_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/logging/time_text.h"

namespace hca::observers {

namespace {

using observe::CqAction;
using observe::CqEvent;

std::string at(Time time) { return "at " + microsecondsText(time) + " us"; }

}  // namespace

CqObserver::CqObserver(observe::Probes& probes) : probes_(probes) {
  probes.cq.attach([this](const CqEvent& event) { onCq(event); });
}

CqObserver::Queue& CqObserver::queueOf(HostIndex host, AdapterIndex adapter, CqNumber cq) {
  const std::uint32_t number = index_.add(host, adapter, cq.value());
  if (number < queues_.size()) return queues_[number];
  Queue& queue = queues_.emplace_back();
  queue.result.host = host;
  queue.result.adapter = adapter;
  queue.result.cq = cq;
  queue.result.cqe = 0;
  queue.result.cqeSize = 0;
  return queue;
}

const CqObserver::Queue* CqObserver::find(HostIndex host, AdapterIndex adapter, CqNumber cq) const {
  const std::uint32_t number = index_.find(host, adapter, cq.value());
  return number == ObjectIndex::kNone ? nullptr : &queues_[number];
}

std::uint64_t CqObserver::polled(HostIndex host, AdapterIndex adapter, CqNumber cq) const {
  const Queue* queue = find(host, adapter, cq);
  return queue == nullptr ? 0 : queue->polled;
}

bool CqObserver::isAsleep(HostIndex host, AdapterIndex adapter, CqNumber cq) const {
  const Queue* queue = find(host, adapter, cq);
  return queue != nullptr && queue->asleep;
}

void CqObserver::describe(HostIndex host, AdapterIndex adapter, CqNumber cq, std::uint32_t cqe, std::uint32_t cqeSize) {
  Queue& queue = queueOf(host, adapter, cq);
  queue.result.cqe = cqe;
  queue.result.cqeSize = cqeSize;
}

void CqObserver::onCq(const CqEvent& event) {
  Queue& queue = queueOf(event.host, event.adapter, event.cq);
  onHardware(queue, event);
  onSoftware(queue, event);
}

void CqObserver::onHardware(Queue& queue, const CqEvent& event) {
  const auto note = [&](Act& act) { act = {act.count + 1, event.time, event.index, event.solicitedOnly}; };
  switch (event.action) {
    case CqAction::kCqeVisible:
      note(queue.cqe);
      return addEntry(queue, event);
    case CqAction::kArmArrived:
      ++queue.result.arms;
      return note(queue.armArrived);
    case CqAction::kArmIgnored:
      return note(queue.armIgnored);
    case CqAction::kEventFired:
      ++queue.result.events;
      return note(queue.fired);
    case CqAction::kOverrun:
      ++queue.result.overruns;
      return note(queue.overrun);
    case CqAction::kEntryLost:
      ++queue.result.lost;
      queue.overwritten = std::max(queue.overwritten, event.index + 1);
      return;
    case CqAction::kResized:
      return moveEntries(queue, event);
    default:
      return;
  }
}

void CqObserver::onSoftware(Queue& queue, const CqEvent& event) {
  const auto note = [&](Act& act) { act = {act.count + 1, event.time, event.index, event.solicitedOnly}; };
  switch (event.action) {
    case CqAction::kArmIssued:
      return note(queue.armIssued);
    case CqAction::kPolled:
      queue.polled = std::max(queue.polled, event.index + 1);
      return note(queue.poll);
    case CqAction::kPolledEmpty:
      return note(queue.emptyPoll);
    case CqAction::kEventDelivered:
      queue.deliveredSinceSleep = true;
      return note(queue.delivered);
    case CqAction::kSleep:
      queue.asleep = true;
      queue.deliveredSinceSleep = false;
      return note(queue.sleep);
    case CqAction::kWake:
      queue.asleep = false;
      return note(queue.wake);
    default:
      return;
  }
}

// The oldest entry that software can still take.
std::uint64_t CqObserver::oldest(const Queue& queue) {
  return std::min(queue.visible, std::max(queue.polled, queue.overwritten));
}

// The resize entry takes an index: software moves the entries that it hasn't taken up by one.
void CqObserver::moveEntries(Queue& queue, const CqEvent& event) {
  const std::uint64_t first = oldest(queue);
  const std::uint64_t end = queue.visible;
  reserve(queue, end - first + 1, first, end);
  for (std::uint64_t i = end; i-- > first;) {
    queue.entries[(i + 1) & (queue.entries.size() - 1)] = queue.entries[i & (queue.entries.size() - 1)];
  }
  queue.visible = std::max(queue.visible, event.index + 1);
  queue.polled = first + 1;
}

// Room for `wanted` entries; those from `first` up to `end` are kept.
void CqObserver::reserve(Queue& queue, std::uint64_t wanted, std::uint64_t first, std::uint64_t end) {
  if (wanted <= queue.entries.size()) return;
  std::size_t size = std::max<std::size_t>(queue.entries.size(), 16);
  while (size < wanted) size *= 2;
  std::vector<Entry> larger(size);
  for (std::uint64_t i = first; i < end; ++i) {
    larger[i & (size - 1)] = queue.entries[i & (queue.entries.size() - 1)];
  }
  queue.entries = std::move(larger);
}

void CqObserver::addEntry(Queue& queue, const CqEvent& event) {
  ++queue.result.cqesWritten;
  const std::uint64_t before = queue.visible;
  queue.visible = std::max(queue.visible, event.index + 1);
  const std::uint64_t first = oldest(queue);
  const std::uint64_t waiting = queue.visible - first;
  queue.result.highWater = std::max(queue.result.highWater, waiting);
  reserve(queue, waiting, first, before);
  queue.entries[event.index & (queue.entries.size() - 1)] = {event.time, event.solicited};
}

// Entries that the last arm asked for.
CqObserver::Waiting CqObserver::waitingEntries(const Queue& queue) {
  Waiting waiting;
  const bool solicitedOnly = queue.armIssued.count > 0 && queue.armIssued.solicitedOnly;
  for (std::uint64_t i = oldest(queue); i < queue.visible; ++i) {
    const Entry& entry = queue.entries[i & (queue.entries.size() - 1)];
    if (solicitedOnly && !entry.solicited) continue;
    if (waiting.entries++ > 0) continue;
    waiting.first = i;
    waiting.since = later(queue.sleep.time, entry.visible);
  }
  return waiting;
}

bool CqObserver::isWakeUpComing(const Queue& queue) {
  return queue.fired.count > queue.delivered.count || queue.deliveredSinceSleep;
}

std::vector<report::FailureResult> CqObserver::finish() {
  std::vector<report::FailureResult> failures;
  for (const Queue& queue : queues_) {
    if (!queue.asleep || isWakeUpComing(queue)) continue;
    const Waiting waiting = waitingEntries(queue);
    if (waiting.entries == 0) continue;
    failures.push_back(failureOf(queue, waiting));
    probes_.hazard.fire([&] {
      return observe::HazardEvent{observe::HazardEvent::Kind::kLostWakeUp,
                                  waiting.since,
                                  queue.result.host,
                                  queue.result.adapter,
                                  queue.result.cq,
                                  waiting.first,
                                  waiting.entries};
    });
  }
  return failures;
}

report::FailureResult CqObserver::failureOf(const Queue& queue, const Waiting& waiting) {
  report::FailureResult failure;
  failure.kind = "lost_wakeup";
  failure.host = queue.result.host;
  failure.adapter = queue.result.adapter;
  failure.cq = queue.result.cq;
  failure.entries = waiting.entries;
  failure.since = waiting.since;
  failure.software = softwareText(queue);
  failure.hardware = hardwareText(queue);
  failure.message = fmt::format(
      "host {}{}, CQ {:#x}: a thread sleeps since {} us although {} in the queue, and no event is on its way. {}",
      queue.result.host.value(),
      queue.result.adapter.value() == 0 ? "" : fmt::format(", adapter {}", queue.result.adapter.value()),
      queue.result.cq.value(), microsecondsText(waiting.since),
      waiting.entries == 1 ? "1 completion waits" : fmt::format("{} completions wait", waiting.entries),
      reasonText(queue, waiting));
  return failure;
}

std::string CqObserver::reasonText(const Queue& queue, const Waiting& waiting) {
  if (queue.armIssued.count == 0) return "The queue was never armed: call ibv_req_notify_cq before waiting.";
  if (queue.armIssued.count > queue.armArrived.count) {
    return "Its arm hasn't reached the adapter.";
  }
  if (queue.armIgnored.count > 0 && queue.armIgnored.time == queue.armArrived.time) {
    return "The adapter ignored the last arm, whose sequence number it had served before: take the event with "
           "ibv_get_cq_event before arming again.";
  }
  const bool servedLastArm = queue.fired.count > 0 && queue.fired.time >= queue.armArrived.time;
  if (servedLastArm) return "The queue had given its one event for the last arm: arm again before waiting.";
  return fmt::format(
      "{} written before the arm reached the adapter, and such an arm promises an event for later "
      "completions only. Poll once more after arming, before going to sleep.",
      waiting.entries == 1 ? "The completion was" : "The completions were");
}

std::string CqObserver::softwareText(const Queue& queue) {
  std::string text = "went to sleep " + at(queue.sleep.time);
  if (queue.armIssued.count > 0) {
    text += fmt::format("; armed for {} completion with consumer index {} {}",
                        queue.armIssued.solicitedOnly ? "a solicited" : "any", queue.armIssued.index,
                        at(queue.armIssued.time));
  }
  if (queue.emptyPoll.count > 0) text += "; found the queue empty " + at(queue.emptyPoll.time);
  return text;
}

// The latest first.
std::string CqObserver::hardwareText(const Queue& queue) {
  std::vector<std::pair<Time, std::string>> acts;
  if (queue.cqe.count > 0) acts.emplace_back(queue.cqe.time, fmt::format("wrote completion {}", queue.cqe.index));
  if (queue.armArrived.count > 0) acts.emplace_back(queue.armArrived.time, "took the arm");
  if (queue.armIgnored.count > 0) acts.emplace_back(queue.armIgnored.time, "ignored an arm");
  if (queue.fired.count > 0) acts.emplace_back(queue.fired.time, "raised an event");
  std::stable_sort(acts.begin(), acts.end(), [](const auto& a, const auto& b) { return b.first < a.first; });
  std::string text;
  for (const auto& [time, what] : acts) text += (text.empty() ? "" : "; ") + what + ' ' + at(time);
  return text;
}

std::vector<report::CqResult> CqObserver::results() const {
  std::vector<report::CqResult> results;
  for (const Queue& queue : queues_) results.push_back(queue.result);
  std::stable_sort(results.begin(), results.end(), [](const report::CqResult& a, const report::CqResult& b) {
    return std::tuple(a.host, a.adapter, a.cq) < std::tuple(b.host, b.adapter, b.cq);
  });
  return results;
}

}  // namespace hca::observers

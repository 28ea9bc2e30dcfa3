#include "models/adapter/completion/cq_engine.h"

#include <algorithm>
#include <utility>

#include "models/adapter/completion/cq_dma_token.h"
#include "models/adapter/event/ring_index.h"

namespace hca::adapter {
namespace {

/// Numbers start at 1: a context that was left zero must not match by chance.
constexpr std::uint32_t kFirstNumber = 1;

}  // namespace

CqEngine::CqEngine(const AdapterContext& context, const CompletionConfig& config, EqDirectory& eventQueues,
                   EventPort& events)
    : context_(context),
      config_(config),
      eventQueues_(eventQueues),
      events_(events),
      buildTime_(context.clock.span(config.cqeBuildCycles)),
      writeTime_(context.clock.span(config.cqeWriteCycles)),
      armTime_(context.clock.span(config.armLatencyCycles)),
      timestampClock_(config.timestamps()),
      numbers_(kFirstNumber, (std::uint32_t{1} << config.logMaxCqs) - kFirstNumber),
      eventTimers_(context.calendar, kernel::Priority::kAdapter, *this, &CqEngine::onEventTimer),
      sessionTimers_(context.calendar, kernel::Priority::kAdapter, *this, &CqEngine::onSessionTimer) {}

// ---------------------------------------------------------------------------------------------------------------------
// The writer.

void CqEngine::complete(const CompletionRecord& record) {
  context_.probes.stage.fire([&] {
    return observe::StageEvent{observe::Stage::kCqeIssued, context_.now(), record.request};
  });
  const std::uint32_t slot = acquireSlot();
  slots_[slot].record = record;
  if (cache_ != nullptr && cache_->misses(CachedObject::kCqContext, record.cq.value(), *this, slot)) return;
  build(slot);
}

void CqEngine::build(std::uint32_t slot) {
  builderFree_ = later(builderFree_, context_.now()) + buildTime_;
  context_.calendar.schedule(builderFree_ + writeTime_, kernel::Priority::kAdapter, *this, slot);
}

void CqEngine::onCalendar(std::uint64_t slot) { deliver(static_cast<std::uint32_t>(slot)); }

void CqEngine::deliver(std::uint32_t slot) {
  const CompletionRecord& record = slots_[slot].record;
  CompletionQueue* const queue = slots_[slot].dropped ? nullptr : lookup(record.cq);
  const bool wait = queue != nullptr && queue->good() && !queue->attributes.ignoreOverrun &&
                    (queue->occupancy.looksFull() || !queue->waiting.empty());
  if (wait) {
    slots_[slot].state = SlotState::kWaiting;
    queue->waiting.push(slot);
    readConsumerIndex(*queue);
    return;
  }
  if (!slots_[slot].dropped) {
    if (queue != nullptr && queue->good()) {
      writeEntry(*queue, record);
    } else {
      refuse(queue, record);
    }
  }
  releaseSlot(slot);
}

void CqEngine::writeEntry(CompletionQueue& queue, const CompletionRecord& record) {
  if (!queue.attributes.compression) return writePlain(queue, record);
  // Writing what was gathered may fail, and that may bring further completions, which move the records.
  const CompletionRecord own = record;
  if (gather(queue, own)) return;
  if (!queue.good()) return refuse(&queue, own);
  writePlain(queue, own);
}

void CqEngine::writePlain(CompletionQueue& queue, const CompletionRecord& record) {
  const bool solicited = CqeBuilder::isSolicited(record);
  const bool forceEvent = record.forceEvent;
  issueWrite(queue, record, {queue.number, queue.occupancy.produced(), false, solicited, record.request, {}});
  queue.occupancy.produce();
  ++queue.counters.cqes;
  readAhead(queue);
  queue.moderation.addEntry(context_.now(), solicited);
  queue.notification.addEntry(solicited);
  explainOverwrites(queue);
  if (forceEvent) return raiseEvent(queue);
  raiseIfDue(queue);
}

std::uint64_t CqEngine::timestampOf(const CompletionQueue& queue) const {
  const bool real = queue.attributes.timestampFormat == TimestampFormat::kRealTime;
  return real ? timestampClock_.realTimeStamp(context_.now()) : timestampClock_.ticks(context_.now());
}

void CqEngine::issueWrite(CompletionQueue& queue, const CompletionRecord& record, const Watched& watched) {
  queue.builder.build(record, watched.index, timestampOf(queue), image_);
  writeSlot(queue, watched.index, image_.view(), &watched);
}

void CqEngine::writeResizeEntry(CompletionQueue& queue) {
  CompletionRecord record;
  record.opcode = wire::CqeOpcode::kResize;
  record.cq = queue.number;
  issueWrite(queue, record, {queue.number, queue.occupancy.produced(), true, false, {}, {}});
}

void CqEngine::refuse(CompletionQueue* queue, const CompletionRecord& record) {
  if (queue != nullptr) {
    ++queue->counters.refused;
  } else {
    ++counters_.completionsUnknownCq;
  }
  if (failures_ != nullptr) failures_->onCompletionQueueFailed(record.qp);
}

void CqEngine::discard(QpNumber qp) {
  closeSessionsOf(qp);
  for (Pending& pending : slots_) {
    if (pending.state == SlotState::kFree || pending.dropped || pending.record.qp != qp) continue;
    pending.dropped = true;
    ++counters_.completionsDiscarded;
  }
}

std::uint32_t CqEngine::acquireSlot() {
  if (freeSlots_.empty()) {
    freeSlots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t slot = freeSlots_.back();
  freeSlots_.pop_back();
  slots_[slot].state = SlotState::kBuilding;
  slots_[slot].dropped = false;
  return slot;
}

void CqEngine::releaseSlot(std::uint32_t slot) {
  slots_[slot].state = SlotState::kFree;
  freeSlots_.push_back(slot);
  if (!awaited_.empty()) serveAwaited();
}

void CqEngine::whenWritten(QpNumber qp, std::function<void()> done) {
  if (!hasPending(qp)) {
    closeSessionsOf(qp);
    return done();
  }
  awaited_.push_back({qp, std::move(done)});
}

bool CqEngine::hasPending(QpNumber qp) const {
  return std::any_of(slots_.begin(), slots_.end(), [qp](const Pending& pending) {
    return pending.state != SlotState::kFree && pending.record.qp == qp;
  });
}

void CqEngine::serveAwaited() {
  for (std::size_t i = 0; i < awaited_.size();) {
    if (hasPending(awaited_[i].qp)) {
      ++i;
      continue;
    }
    closeSessionsOf(awaited_[i].qp);
    const std::function<void()> done = std::move(awaited_[i].done);
    awaited_.erase(awaited_.begin() + static_cast<std::ptrdiff_t>(i));
    done();
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Arms and events.

void CqEngine::onArm(UarIndex uar, std::uint64_t word) {
  const wire::CqArm request = wire::CqArm::fromWord(word);
  CompletionQueue* const queue = lookup(CqNumber(request.cq));
  if (queue == nullptr) {
    ++counters_.armsUnknownCq;
  } else if (queue->attributes.uar != uar) {
    ++counters_.armsWrongUar;
  } else {
    arm(*queue, request);
  }
}

void CqEngine::arm(CompletionQueue& queue, const wire::CqArm& request) {
  const auto event = [&](observe::CqAction action) {
    context_.probes.cq.fire([&] {
      const std::uint64_t index = extendIndex24(request.consumerIndex, queue.occupancy.produced());
      return observe::CqEvent{action, context_.now(),        context_.host, context_.adapter, queue.number,
                              index,  request.solicitedOnly, false,         request.sequence};
    });
  };
  event(observe::CqAction::kArmArrived);
  queue.occupancy.learnArm(request.consumerIndex);
  if (!queue.notification.arm({request.consumerIndex, request.sequence, request.solicitedOnly})) {
    ++queue.counters.armsIgnored;
    return event(observe::CqAction::kArmIgnored);
  }
  ++queue.counters.arms;
  queue.earliestEvent = context_.now() + armTime_;
  raiseIfDue(queue);
  watchSession(queue);
}

void CqEngine::raiseIfDue(CompletionQueue& queue) {
  if (!queue.notification.due()) return;
  const Time release = later(queue.moderation.releaseTime(), queue.earliestEvent);
  if (release <= context_.now()) return raiseEvent(queue);
  if (release != kForever) eventTimers_.set(queue.number.value(), release);
}

void CqEngine::onEventTimer(std::uint32_t number) {
  CompletionQueue* const queue = lookup(CqNumber(number));
  if (queue != nullptr) raiseIfDue(*queue);
}

void CqEngine::raiseEvent(CompletionQueue& queue) {
  Notification& notification = queue.notification;
  const std::uint64_t produced = notification.produced();
  if (notification.due() && !notification.promised()) {
    ++queue.counters.hazards;
    context_.probes.hazard.fire([&] {
      const std::uint64_t first = notification.firstUnpromised();
      return observe::HazardEvent{observe::HazardEvent::Kind::kArmAfterEntry,
                                  context_.now(),
                                  context_.host,
                                  context_.adapter,
                                  queue.number,
                                  first,
                                  produced - first};
    });
  }
  notification.fire();
  queue.moderation.eventRaised(context_.now());
  ++queue.counters.events;
  fireCq(observe::CqAction::kEventFired, queue, produced);
  events_.raiseCompletion(queue.attributes.eq, queue.number);
}

// ---------------------------------------------------------------------------------------------------------------------
// Small things.

const CompletionQueue* CqEngine::find(CqNumber number) const {
  return number.value() < queues_.size() ? queues_[number.value()].get() : nullptr;
}

CompletionQueue* CqEngine::lookup(CqNumber number) {
  return number.value() < queues_.size() ? queues_[number.value()].get() : nullptr;
}

CompletionQueue* CqEngine::queueOf(std::uint64_t token) {
  CompletionQueue* const queue = lookup(CqNumber(static_cast<std::uint32_t>(CqDmaToken::Number::get(token))));
  return queue != nullptr && queue->serial == CqDmaToken::Serial::get(token) ? queue : nullptr;
}

void CqEngine::fireCq(observe::CqAction action, const CompletionQueue& queue, std::uint64_t index) {
  context_.probes.cq.fire(
      [&] { return observe::CqEvent{action, context_.now(), context_.host, context_.adapter, queue.number, index}; });
}

}  // namespace hca::adapter

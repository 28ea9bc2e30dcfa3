// The control path of CqEngine: create, destroy, query, modify, attach, reset.
#include <cassert>
#include <utility>

#include "models/adapter/completion/cq_checks.h"
#include "models/adapter/completion/cq_dma_token.h"
#include "models/adapter/completion/cq_engine.h"
#include "models/adapter/event/ring_index.h"

namespace hca::adapter {
namespace {

ModerationSetting moderationOf(const CqAttributes& attributes) {
  return {attributes.moderationCount, attributes.moderationPeriod, attributes.periodMode,
          attributes.solicitedBreaksModeration};
}

constexpr CommandResult kUnknown{CommandStatus::kBadResource, Syndrome::kUnknownCq};

}  // namespace

CommandResult CqEngine::create(const CqAttributes& attributes, CqNumber& number) {
  if (const CommandResult check = checkCompletionQueue(attributes, config_); !check.ok()) return check;
  if (!eventQueues_.attach(attributes.eq).ok()) return {CommandStatus::kBadResource, Syndrome::kCqEqUnknown};
  const auto index = numbers_.allocate();
  if (!index) {
    eventQueues_.detach(attributes.eq);
    return {CommandStatus::kNoResources, Syndrome::kCqLimit};
  }
  if (*index >= queues_.size()) queues_.resize(*index + 1);
  auto queue = std::make_unique<CompletionQueue>(CqNumber(*index), attributes, config_, nextSerial_++);
  queue->attributes.status = CqStatus::kOk;
  queue->moderation.set(moderationOf(attributes));
  queues_[*index] = std::move(queue);
  number = CqNumber(*index);
  return {};
}

std::optional<CqNumber> CqEngine::lastQueue() const {
  for (std::size_t number = queues_.size(); number-- != 0;) {
    if (queues_[number] != nullptr) return queues_[number]->number;
  }
  return std::nullopt;
}

void CqEngine::startAt(CqNumber number, std::uint64_t index) {
  CompletionQueue* const queue = lookup(number);
  assert(queue != nullptr && queue->occupancy.produced() == 0);
  queue->occupancy.startAt(index);
  queue->notification.startAt(index);
}

CommandResult CqEngine::destroy(CqNumber number) {
  CompletionQueue* const queue = lookup(number);
  if (queue == nullptr) return kUnknown;
  if (queue->holders != 0) return {CommandStatus::kResourceBusy, Syndrome::kCqInUse};
  while (!queue->waiting.empty()) {
    const std::uint32_t slot = queue->waiting.pop();
    if (!slots_[slot].dropped) ++counters_.completionsUnknownCq;
    releaseSlot(slot);
  }
  sessionTimers_.cancel(number.value());
  const CqSummary summary = summaryOf(*queue);
  if (summary.counters.cqes != 0 || summary.counters.arms != 0) retired_.push_back(summary);
  eventQueues_.detach(queue->attributes.eq);
  queues_[number.value()].reset();
  numbers_.release(number.value());
  return {};
}

CommandResult CqEngine::query(CqNumber number, CqAttributes& attributes) const {
  const CompletionQueue* const queue = find(number);
  if (queue == nullptr) return kUnknown;
  attributes = queue->attributes;
  attributes.notification = queue->notification.state();
  attributes.lastNotifiedIndex = truncateIndex24(queue->notification.lastNotified());
  attributes.lastSolicitedIndex = truncateIndex24(queue->notification.lastSolicited());
  attributes.consumerCounter = truncateIndex24(queue->occupancy.consumed());
  attributes.producerCounter = truncateIndex24(queue->occupancy.produced());
  return {};
}

CommandResult CqEngine::modifyModeration(CqNumber number, const CqModeration& change) {
  CompletionQueue* const queue = lookup(number);
  if (queue == nullptr) return kUnknown;
  if (!config_.moderation && (change.period.value_or(0) != 0 || change.count.value_or(0) != 0)) {
    return {CommandStatus::kBadParameter, Syndrome::kCqModerationUnsupported};
  }
  if (change.period.value_or(0) > kMaxCqPeriod) {
    return {CommandStatus::kExceedLimit, Syndrome::kCqModerationOutOfRange};
  }
  CqAttributes& attributes = queue->attributes;
  attributes.moderationPeriod = change.period.value_or(attributes.moderationPeriod);
  attributes.moderationCount = change.count.value_or(attributes.moderationCount);
  attributes.ignoreOverrun = change.ignoreOverrun.value_or(attributes.ignoreOverrun);
  queue->moderation.set(moderationOf(attributes));
  raiseIfDue(*queue);
  watchSession(*queue);
  if (attributes.ignoreOverrun) drain(*queue, false);
  return {};
}

void CqEngine::refreshConsumerIndex(CqNumber number, std::function<void()> done) {
  CompletionQueue* const queue = lookup(number);
  if (queue == nullptr) return done();
  assert(!queue->refreshed);
  queue->refreshed = std::move(done);
  readRecord(*queue, CqDmaToken::of(*queue) | CqDmaToken::Refresh::make(true));
}

CommandResult CqEngine::resize(CqNumber number, const CqRing& ring) {
  CompletionQueue* const queue = lookup(number);
  if (queue == nullptr) return kUnknown;
  CqAttributes wanted = queue->attributes;
  if (ring.stride != wanted.stride) return {CommandStatus::kBadParameter, Syndrome::kCqEntrySizeUnsupported};
  wanted.logSize = ring.logSize;
  wanted.ring = ring.pages;
  if (const CommandResult check = checkCompletionQueue(wanted, config_); !check.ok()) return check;
  if (!queue->good()) return {CommandStatus::kBadResourceState, Syndrome::kCqInError};
  if (queue->occupancy.looksFull()) return {CommandStatus::kBadResourceState, Syndrome::kCqNoSlotForResize};
  if (!queue->occupancy.fits(ring.logSize)) return {CommandStatus::kBadSize, Syndrome::kCqTooSmallForEntries};
  closeSession(*queue, SessionEnd::kResize);
  writeResizeEntry(*queue);
  queue->attributes = wanted;
  queue->builder = CqeBuilder(wanted.stride, wanted.logSize, usesValidity(wanted), config_.poison);
  queue->occupancy.resize(wanted.logSize);
  queue->notification.skipEntry();
  ++queue->counters.resizes;
  return {};
}

CommandResult CqEngine::attach(CqNumber number) {
  CompletionQueue* const queue = lookup(number);
  if (queue == nullptr) return kUnknown;
  ++queue->holders;
  return {};
}

void CqEngine::detach(CqNumber number) {
  CompletionQueue* const queue = lookup(number);
  assert(queue != nullptr && queue->holders != 0);
  --queue->holders;
}

void CqEngine::reset() {
  for (const auto& queue : queues_) {
    if (queue != nullptr) retired_.push_back(summaryOf(*queue));
  }
  queues_.clear();
  numbers_.reset();
  awaited_.clear();
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].state == SlotState::kWaiting) releaseSlot(slot);
    if (slots_[slot].state == SlotState::kBuilding) slots_[slot].dropped = true;
  }
}

CqSummary CqEngine::summaryOf(const CompletionQueue& queue) {
  CqSummary summary;
  summary.number = queue.number;
  summary.entries = std::uint32_t{1} << queue.attributes.logSize;
  summary.entryBytes = strideBytes(queue.attributes.stride);
  summary.counters = queue.counters;
  summary.counters.highWater = queue.occupancy.highWater();
  return summary;
}

std::vector<CqSummary> CqEngine::summaries() const {
  std::vector<CqSummary> all = retired_;
  for (const auto& queue : queues_) {
    if (queue != nullptr) all.push_back(summaryOf(*queue));
  }
  return all;
}

}  // namespace hca::adapter

#include "models/adapter/receive_queue/receive_queue_engine.h"

#include <algorithm>

#include "models/adapter/transport/queue_token.h"
#include "models/adapter/transport/vendor_errors.h"
#include "models/observe/work_request_id.h"
#include "models/wire/wqe.h"

namespace hca::adapter {

ReceiveQueueEngine::ReceiveQueueEngine(const AdapterContext& context, const DatapathConfig& config,
                                       QpLookup& queuePairs, CompletionPort& completions, SrqEngine& sharedQueues)
    : context_(context),
      config_(config),
      queuePairs_(queuePairs),
      completions_(completions),
      sharedQueues_(sharedQueues),
      lookTimers_(context.calendar, kernel::Priority::kAdapter, *this, &ReceiveQueueEngine::onLookTimer) {}

void ReceiveQueueEngine::connect(ReceiveQueueListener& listener) {
  listener_ = &listener;
  sharedQueues_.connect(listener);
}

void ReceiveQueueEngine::read(const QueuePair& qp, ReceiveRead purpose, pcie::DmaRead request) {
  request.client = this;
  request.token = QueueToken{static_cast<std::uint8_t>(purpose), qp.receive.epoch, qp.number.value()}.encoded();
  context_.dma.read(request);
}

ReceiveQueueEngine::Take ReceiveQueueEngine::take(QueuePair& qp, ReceiveWqe& wqe) {
  if (qp.usesSharedQueue()) return sharedQueues_.take(qp, qp.sharedQueue(), wqe);
  ReceiveQueueState& state = qp.receive;
  if (!state.ready.empty()) {
    wqe = state.ready.pop();
    ++state.consumed;
    prefetch(qp);
    return Take::kTaken;
  }
  if (!state.busy) readRecord(qp);
  return Take::kPending;
}

void ReceiveQueueEngine::prefetch(QueuePair& qp) {
  if (qp.usesSharedQueue()) return sharedQueues_.prefetch(qp.sharedQueue());
  ReceiveQueueState& state = qp.receive;
  if (qp.attributes.receiveQueueType != RqType::kOwn || state.busy) return;
  if (static_cast<std::int64_t>(state.ready.size()) * 2 >= config_.receivePrefetch) return;
  if (state.producer > state.fetched) {
    fetchEntries(qp);
  } else {
    readRecord(qp);
  }
}

void ReceiveQueueEngine::readRecord(QueuePair& qp) {
  qp.receive.busy = true;
  read(qp, ReceiveRead::kRecord, recordRead(qp.attributes.doorbellRecord));
}

// Fetches up to a batch.
void ReceiveQueueEngine::fetchEntries(QueuePair& qp) {
  ReceiveQueueState& state = qp.receive;
  state.busy = true;
  const ReceiveRing ring{qp.attributes.buffer, qp.attributes.logReceiveQueueSize, qp.attributes.logReceiveStride};
  const std::uint64_t first = state.fetched & (ring.entries() - 1);
  const std::uint64_t wanted =
      std::min(state.producer - state.fetched, static_cast<std::uint64_t>(config_.receivePrefetch));
  pcie::DmaRead entries = ring.read(first, ring.inOneRead(first, wanted));
  entries.deliverAfter = context_.clock.span(config_.receiveWqeCycles);
  read(qp, ReceiveRead::kEntries, entries);
}

void ReceiveQueueEngine::onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) {
  const QueueToken queue = QueueToken::decode(token);
  QueuePair* qp = queuePairs_.find(QpNumber(queue.number));
  if (qp == nullptr || qp->receive.epoch != queue.life) return;
  qp->receive.busy = false;
  // What can't be read has nothing posted in it.
  if (status != host::DmaStatus::kOk) return listener_->onReceiveEmpty(*qp);
  if (static_cast<ReceiveRead>(queue.purpose) == ReceiveRead::kRecord) {
    onRecord(*qp, data);
  } else {
    onEntries(*qp, data);
  }
}

void ReceiveQueueEngine::onRecord(QueuePair& qp, ByteView data) {
  ReceiveQueueState& state = qp.receive;
  state.producer = std::max(state.producer, observe::extendIndex(postedIn(data), state.producer));
  if (state.flushing) return flushPosted(qp);
  if (state.producer > state.fetched) return fetchEntries(qp);
  if (state.ready.empty()) listener_->onReceiveEmpty(qp);
}

void ReceiveQueueEngine::onEntries(QueuePair& qp, ByteView data) {
  ReceiveQueueState& state = qp.receive;
  if (state.flushing) return readRecord(qp);
  const std::size_t stride = std::size_t{1} << qp.attributes.logReceiveStride;
  // An entry of a striding queue begins like one of a list, though the ring is cyclic.
  const std::size_t front = qp.attributes.striding.isOn ? sizeof(wire::NextSegment) : 0;
  for (std::size_t at = 0; at + stride <= data.size(); at += stride) {
    state.ready.push(parseReceiveWqe(data.subview(at + front, stride - front), state.fetched,
                                     static_cast<std::uint16_t>(state.fetched)));
    ++state.fetched;
  }
  listener_->onReceiveAvailable(qp);
}

void ReceiveQueueEngine::flush(QueuePair& qp) {
  if (qp.attributes.receiveQueueType != RqType::kOwn) return;
  ReceiveQueueState& state = qp.receive;
  state.flushing = true;
  state.ready.clear();
  if (!state.busy) readRecord(qp);
}

void ReceiveQueueEngine::flushPosted(QueuePair& qp) {
  ReceiveQueueState& state = qp.receive;
  if (state.consumed < state.producer) state.idleLooks = 0;
  while (state.consumed < state.producer) completeFlushed(qp, state.consumed++);
  state.fetched = state.consumed;
  if (state.idleLooks == kLooks) return;
  lookTimers_.set(qp.number.value(), context_.now() + kFirstLook * (std::int64_t{1} << state.idleLooks));
  ++state.idleLooks;
}

void ReceiveQueueEngine::onLookTimer(std::uint32_t qpNumber) {
  QueuePair* qp = queuePairs_.find(QpNumber(qpNumber));
  if (qp != nullptr && qp->receive.flushing && !qp->receive.busy) readRecord(*qp);
}

void ReceiveQueueEngine::lookAgain(QueuePair& qp) {
  ReceiveQueueState& state = qp.receive;
  if (!state.flushing) return;
  state.idleLooks = 0;
  if (!state.busy) readRecord(qp);
}

void ReceiveQueueEngine::completeFlushed(QueuePair& qp, std::uint64_t index) {
  CompletionRecord record;
  record.cq = qp.attributes.receiveCq;
  record.qp = qp.number;
  record.userIndex = qp.attributes.userIndex == kNoUserIndex ? 0 : qp.attributes.userIndex;
  record.opcode = CqeOpcode::kResponderError;
  record.syndrome = CqeSyndrome::kWorkRequestFlushed;
  record.vendorError = vendor_error::kFlushed;
  record.wqeCounter = static_cast<std::uint16_t>(index);
  record.request = {context_.host, context_.adapter, qp.number, observe::WorkQueue::kReceive, index};
  completions_.complete(record);
}

void ReceiveQueueEngine::reset(QueuePair& qp) {
  lookTimers_.cancel(qp.number.value());
  const std::uint32_t epoch = qp.receive.epoch + 1;
  qp.receive = ReceiveQueueState{};
  qp.receive.epoch = epoch;
}

}  // namespace hca::adapter

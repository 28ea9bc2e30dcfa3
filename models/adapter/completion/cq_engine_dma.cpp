// CqEngine and host memory: the consumer index of a full queue, and what becomes of CQEs that were handed over.
#include <utility>

#include "models/adapter/completion/cq_dma_token.h"
#include "models/adapter/completion/cq_engine.h"
#include "models/wire/endian.h"
#include "models/wire/eqe.h"

namespace hca::adapter {

void CqEngine::readConsumerIndex(CompletionQueue& queue) {
  if (queue.readingRecord) return;
  queue.readingRecord = true;
  readRecord(queue, CqDmaToken::of(queue));
}

// The queue is full as far as is known: by the time of its next entry better is known, so that queues of a few entries,
// which latency tests have, needn't wait for the record each time.
void CqEngine::readAhead(CompletionQueue& queue) {
  if (queue.readingRecord || queue.attributes.ignoreOverrun || !queue.occupancy.looksFull()) return;
  queue.readsAhead = true;
  readConsumerIndex(queue);
}

void CqEngine::readRecord(const CompletionQueue& queue, std::uint64_t token) {
  ++counters_.consumerIndexReads;
  pcie::DmaRead read;
  read.address = queue.attributes.doorbellRecord;
  read.length = sizeof(wire::CqDoorbellRecord::consumerIndex);
  read.traffic = pcie::Traffic::kDoorbellRecord;
  read.client = this;
  read.token = token;
  context_.dma.read(read);
}

void CqEngine::onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) {
  CompletionQueue* const queue = queueOf(token);
  if (queue == nullptr) return;
  const bool forCommand = CqDmaToken::Refresh::get(token);
  const bool isAhead = !forCommand && std::exchange(queue->readsAhead, false);
  if (forCommand) {
    queue->refreshRead = true;
  } else {
    queue->readingRecord = false;
  }
  if (!queue->good()) return finishRefresh(*queue);
  if (status == host::DmaStatus::kOk) {
    const auto word = wire::loadBigEndian<std::uint32_t>(data.data());
    if (!queue->occupancy.learnRecord(wire::CqDoorbellRecord::Index::get(word))) ++counters_.consumerIndexNonsense;
  } else if (!queue->attributes.ignoreOverrun && !isAhead) {
    return fail(*queue, CqStatus::kWriteFailed);
  }
  // Completions that wait for the other read keep waiting: this one may have been issued before they came.
  if (forCommand) return finishRefresh(*queue);
  if (queue->attributes.ignoreOverrun) return countLost(*queue);
  drain(*queue, isAhead);
  finishRefresh(*queue);
}

// The command goes on behind every completion that came before.
void CqEngine::finishRefresh(CompletionQueue& queue) {
  if (!queue.refreshRead || !queue.waiting.empty()) return;
  queue.refreshRead = false;
  const auto done = std::move(queue.refreshed);
  queue.refreshed = nullptr;
  done();
}

void CqEngine::drain(CompletionQueue& queue, bool isAhead) {
  bool progress = false;
  while (!queue.waiting.empty() && queue.good()) {
    const std::uint32_t slot = queue.waiting.front();
    if (!slots_[slot].dropped) {
      if (!queue.attributes.ignoreOverrun && queue.occupancy.looksFull()) break;
      writeEntry(queue, slots_[slot].record);
      progress = true;
    }
    // A write that failed at once has emptied the list already.
    if (!queue.good()) return;
    releaseSlot(queue.waiting.pop());
  }
  if (queue.waiting.empty()) return;
  // Every entry gets a look of its own at the record before it brings the queue down.
  if (progress || isAhead) {
    queue.readsAhead = false;  // an entry waits for it by now
    return readConsumerIndex(queue);
  }
  fail(queue, CqStatus::kOverflow);
}

void CqEngine::fail(CompletionQueue& queue, CqStatus status) {
  if (status == CqStatus::kOverflow) closeSession(queue, SessionEnd::kOverrun);
  if (!queue.good()) return;  // that failed
  queue.attributes.status = status;
  auto syndrome = wire::CqErrorSyndrome::kAccessViolation;
  if (status == CqStatus::kOverflow) {
    syndrome = wire::CqErrorSyndrome::kOverrun;
    ++queue.counters.overruns;
    fireCq(observe::CqAction::kOverrun, queue, queue.occupancy.produced());
  }
  EventRecord event;
  event.type = EventType::kCqError;
  event.object = queue.number.value();
  event.syndrome = static_cast<std::uint8_t>(syndrome);
  events_.raise(event);
  dropSession(queue);
  kernel::RingQueue<std::uint32_t> waiting = std::move(queue.waiting);
  queue.waiting = {};
  while (!waiting.empty()) {
    const std::uint32_t slot = waiting.pop();
    const bool dropped = slots_[slot].dropped;
    const CompletionRecord record = slots_[slot].record;
    releaseSlot(slot);
    if (!dropped) refuse(&queue, record);
  }
  finishRefresh(queue);
}

bool CqEngine::breakQueue(CqNumber number, CqStatus status) {
  CompletionQueue* const queue = lookup(number);
  if (queue == nullptr || !queue->good()) return false;
  fail(*queue, status);
  return true;
}

// Entries of a collapsed queue are there to be overwritten: none is lost.
void CqEngine::explainOverwrites(CompletionQueue& queue) {
  const CqAttributes& attributes = queue.attributes;
  if (!attributes.ignoreOverrun || attributes.collapsed || !queue.occupancy.overwriteUnexplained()) return;
  if (queue.readingRecord) return;
  queue.occupancy.beginExplaining();
  readConsumerIndex(queue);
}

void CqEngine::countLost(CompletionQueue& queue) {
  const RingOccupancy::Lost lost = queue.occupancy.endExplaining();
  queue.counters.lost += lost.count;
  for (std::uint64_t i = 0; i < lost.count; ++i) fireCq(observe::CqAction::kEntryLost, queue, lost.first + i);
  explainOverwrites(queue);
}

std::uint32_t CqEngine::watch(const Watched& entry) {
  if (freeWatched_.empty()) {
    freeWatched_.push_back(static_cast<std::uint32_t>(watched_.size()));
    watched_.emplace_back();
  }
  const std::uint32_t slot = freeWatched_.back();
  freeWatched_.pop_back();
  watched_[slot] = entry;
  return slot;
}

void CqEngine::onDmaWritten(std::uint64_t token, host::DmaStatus status) {
  const std::uint64_t watched = CqDmaToken::Watched::get(token);
  if (watched != 0) {
    const auto slot = static_cast<std::uint32_t>(watched - 1);
    const Watched entry = std::move(watched_[slot]);
    freeWatched_.push_back(slot);
    if (status == host::DmaStatus::kOk) fireVisible(entry);
  }
  if (status == host::DmaStatus::kOk) return;
  CompletionQueue* const queue = queueOf(token);
  if (queue != nullptr && queue->good()) fail(*queue, CqStatus::kWriteFailed);
}

void CqEngine::fireVisible(const Watched& entry) {
  const auto action = entry.resize ? observe::CqAction::kResized : observe::CqAction::kCqeVisible;
  for (std::size_t i = 0; i <= entry.more.size(); ++i) {
    context_.probes.cq.fire([&] {
      observe::CqEvent event{action, context_.now(), context_.host, context_.adapter, entry.cq, entry.index + i};
      event.solicited = entry.solicited;
      return event;
    });
    if (entry.resize) return;
    context_.probes.stage.fire([&] {
      const observe::WorkRequestId& request = i == 0 ? entry.request : entry.more[i - 1];
      return observe::StageEvent{observe::Stage::kCqeVisible, context_.now(), request};
    });
  }
}

}  // namespace hca::adapter

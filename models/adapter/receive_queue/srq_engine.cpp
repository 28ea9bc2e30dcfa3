#include "models/adapter/receive_queue/srq_engine.h"

#include <algorithm>
#include <utility>

#include "models/adapter/transport/queue_token.h"
#include "models/observe/work_request_id.h"
#include "models/wire/shared_receive_context.h"
#include "models/wire/wqe.h"

namespace hca::adapter {

namespace {

constexpr std::uint32_t kFirstNumber = 1;  // a context that was left zero must not match by chance
constexpr std::uint8_t kLogMinStride = 5;  // the next segment and one data segment
constexpr std::uint8_t kLogMaxStride = 10;
constexpr std::uint32_t kRecordAlignment = 4;
constexpr std::uint64_t kLineSize = 64;

CommandResult check(const SrqAttributes& srq) {
  const bool matches = srq.kind == SrqKind::kTagMatching;
  if (srq.cyclic || (matches && srq.topology != wire::TagMatchingQueueContext::kTagMatching)) {
    return {CommandStatus::kBadParameter, Syndrome::kSrqFormatUnsupported};
  }
  const bool sized =
      srq.logSize <= SrqEngine::kLogMaxSize && srq.logStride >= kLogMinStride && srq.logStride <= kLogMaxStride;
  if (!sized) return {CommandStatus::kBadParameter, Syndrome::kSrqSizeOutOfRange};
  const std::uint64_t bytes = std::uint64_t{1} << (srq.logSize + srq.logStride);
  const std::uint64_t given = srq.buffer.pages.size() << srq.buffer.logPageSize;
  if (srq.buffer.offset % kLineSize != 0 || given < srq.buffer.offset + bytes) {
    return {CommandStatus::kBadParameter, Syndrome::kSrqPagesWrong};
  }
  if (srq.doorbellRecord.value() % kRecordAlignment != 0) {
    return {CommandStatus::kBadParameter, Syndrome::kSrqDoorbellRecordBad};
  }
  if (srq.limit > 1U << srq.logSize) return {CommandStatus::kBadParameter, Syndrome::kSrqLimitOutOfRange};
  return {};
}

constexpr CommandResult kUnknown{CommandStatus::kBadResource, Syndrome::kUnknownSrq};

}  // namespace

SrqEngine::SrqEngine(const AdapterContext& context, const DatapathConfig& config, CqDirectory& completionQueues,
                     EventPort& events, QpLookup& queuePairs)
    : context_(context),
      config_(config),
      completionQueues_(completionQueues),
      events_(events),
      queuePairs_(queuePairs),
      numbers_(kFirstNumber, (1U << kLogMaxQueues) - kFirstNumber) {}

// ---- commands

CommandResult SrqEngine::create(const SrqAttributes& attributes, SrqNumber& number) {
  if (const CommandResult result = check(attributes); !result.ok()) return result;
  if (attributes.kind == SrqKind::kTagMatching && std::int64_t{1} << attributes.logTags > config_.tagListSize) {
    return {CommandStatus::kExceedLimit, Syndrome::kSrqTagListTooLong};
  }
  if (hasOwnCq(attributes.kind) && !completionQueues_.attach(attributes.cq).ok()) {
    return {CommandStatus::kBadResource, Syndrome::kSrqCqUnknown};
  }
  const auto index = numbers_.allocate();
  if (!index) {
    if (hasOwnCq(attributes.kind)) completionQueues_.detach(attributes.cq);
    return {CommandStatus::kNoResources, Syndrome::kSrqLimit};
  }
  if (*index >= table_.size()) table_.resize(*index + 1);
  auto srq = std::make_unique<SharedReceiveQueue>();
  srq->number = number = SrqNumber(*index);
  srq->serial = nextSerial_++;
  srq->attributes = attributes;
  srq->attributes.inError = false;
  srq->batch = static_cast<std::uint32_t>(config_.receivePrefetch);
  if (attributes.kind == SrqKind::kTagMatching) srq->tags = std::make_unique<TagList>(attributes.logTags);
  table_[*index] = std::move(srq);
  ++alive_;
  if (attributes.limit != 0) checkLimit(*table_[*index]);
  return {};
}

CommandResult SrqEngine::destroy(SrqKind kind, SrqNumber number) {
  const SharedReceiveQueue* srq = find(kind, number);
  if (srq == nullptr) return kUnknown;
  if (srq->users != 0 || srq->held != 0) return {CommandStatus::kResourceBusy, Syndrome::kSrqInUse};
  if (hasOwnCq(kind)) completionQueues_.detach(srq->attributes.cq);
  table_[number.value()].reset();
  numbers_.release(number.value());
  --alive_;
  return {};
}

CommandResult SrqEngine::query(SrqKind kind, SrqNumber number, SrqAttributes& attributes) const {
  const SharedReceiveQueue* srq = find(kind, number);
  if (srq == nullptr) return kUnknown;
  attributes = srq->attributes;
  attributes.hardwareCounter = static_cast<std::uint32_t>(srq->consumed);
  attributes.softwareCounter = static_cast<std::uint32_t>(srq->producer);
  if (srq->tags != nullptr) {
    attributes.nextTag = srq->tags->next();
    attributes.softwarePhase = srq->tags->softwareCount();
    attributes.hardwarePhase = srq->tags->hardwareCount();
  }
  return {};
}

CommandResult SrqEngine::arm(SrqKind kind, SrqNumber number, std::uint16_t limit) {
  if (find(kind, number) == nullptr) return kUnknown;
  SharedReceiveQueue& srq = *lookup(number);
  if (srq.attributes.inError) return {CommandStatus::kBadResourceState, Syndrome::kSrqInError};
  if (limit > 1U << srq.attributes.logSize) return {CommandStatus::kBadParameter, Syndrome::kSrqLimitOutOfRange};
  srq.attributes.limit = limit;
  srq.limitDue = false;
  checkLimit(srq);
  return {};
}

bool SrqEngine::attach(SrqNumber number) {
  SharedReceiveQueue* srq = lookup(number);
  if (srq == nullptr || srq->attributes.kind == SrqKind::kXrc) return false;
  ++srq->users;
  return true;
}

void SrqEngine::detach(SrqNumber number) { --lookup(number)->users; }

void SrqEngine::clear() {
  table_.clear();
  numbers_.reset();
  alive_ = 0;
}

const SharedReceiveQueue* SrqEngine::find(SrqNumber number) const {
  return number.value() < table_.size() ? table_[number.value()].get() : nullptr;
}

SharedReceiveQueue* SrqEngine::lookup(SrqNumber number) {
  return number.value() < table_.size() ? table_[number.value()].get() : nullptr;
}

const SharedReceiveQueue* SrqEngine::find(SrqKind kind, SrqNumber number) const {
  const SharedReceiveQueue* srq = find(number);
  return srq != nullptr && srq->attributes.kind == kind ? srq : nullptr;
}

// ---- entries

SrqEngine::Take SrqEngine::take(const QueuePair& qp, SrqNumber number, ReceiveWqe& wqe) {
  SharedReceiveQueue* srq = lookup(number);
  if (srq == nullptr || srq->attributes.inError) return Take::kFailed;
  if (srq->ready.empty()) {
    srq->waiting.push(qp.number);
    advance(*srq);
    return srq->attributes.inError ? Take::kFailed : Take::kPending;
  }
  wqe = srq->ready.pop();
  ++srq->consumed;
  ++srq->held;
  checkLimit(*srq);
  prefetch(number);
  return Take::kTaken;
}

void SrqEngine::release(SrqNumber number) {
  SharedReceiveQueue* srq = lookup(number);
  if (srq != nullptr && srq->held > 0) --srq->held;
}

PdNumber SrqEngine::domainOf(SrqNumber number) const {
  const SharedReceiveQueue* srq = find(number);
  return srq == nullptr ? PdNumber() : srq->attributes.pd;
}

void SrqEngine::describe(SrqNumber number, CompletionRecord& record) const {
  const SharedReceiveQueue* srq = find(number);
  if (srq == nullptr) return;
  record.request.qp = QpNumber(number.value());
  record.request.queue = observe::WorkQueue::kSharedReceive;
  if (hasOwnCq(srq->attributes.kind)) {
    record.cq = srq->attributes.cq;
    record.userIndex = srq->attributes.userIndex;
  }
  if (record.userIndex == kNoUserIndex) record.userIndex = number.value();
}

void SrqEngine::prefetch(SrqNumber number) {
  SharedReceiveQueue* srq = lookup(number);
  if (srq == nullptr || srq->attributes.inError) return;
  if (static_cast<std::int64_t>(srq->ready.size()) * 2 < config_.receivePrefetch) advance(*srq);
}

// Entries if some are known to be posted, else the doorbell record.
void SrqEngine::advance(SharedReceiveQueue& srq) {
  if (srq.busy) return;
  if (srq.producer > srq.fetched) {
    fetchEntries(srq);
  } else {
    readRecord(srq);
  }
}

void SrqEngine::read(const SharedReceiveQueue& srq, ReceiveRead purpose, pcie::DmaRead request) {
  request.client = this;
  request.token = QueueToken{static_cast<std::uint8_t>(purpose), srq.serial, srq.number.value()}.encoded();
  context_.dma.read(request);
}

void SrqEngine::readRecord(SharedReceiveQueue& srq) {
  srq.busy = true;
  read(srq, ReceiveRead::kRecord, recordRead(srq.attributes.doorbellRecord));
}

// Reads the next entry and its neighbours, which the list names next as long as entries come back in order.
void SrqEngine::fetchEntries(SharedReceiveQueue& srq) {
  const ReceiveRing ring{srq.attributes.buffer, srq.attributes.logSize, srq.attributes.logStride};
  if (srq.next >= ring.entries()) return fail(srq);
  srq.busy = true;
  const std::uint64_t wanted = std::min<std::uint64_t>(srq.producer - srq.fetched, srq.batch);
  srq.batchFirst = srq.next;
  srq.batchCount = static_cast<std::uint32_t>(ring.inOneRead(srq.next, wanted));
  pcie::DmaRead entries = ring.read(srq.next, srq.batchCount);
  entries.deliverAfter = context_.clock.span(config_.receiveWqeCycles);
  read(srq, ReceiveRead::kEntries, entries);
}

void SrqEngine::onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) {
  const QueueToken queue = QueueToken::decode(token);
  SharedReceiveQueue* srq = lookup(SrqNumber(queue.number));
  if (srq == nullptr || srq->serial != queue.life) return;
  srq->busy = false;
  if (srq->attributes.inError) return;
  if (status != host::DmaStatus::kOk) return fail(*srq);
  if (static_cast<ReceiveRead>(queue.purpose) == ReceiveRead::kRecord) {
    onRecord(*srq, data);
  } else {
    onEntries(*srq, data);
  }
  if (srq->limitDue && !srq->busy && !srq->attributes.inError) readRecord(*srq);
}

void SrqEngine::onRecord(SharedReceiveQueue& srq, ByteView data) {
  srq.producer = std::max(srq.producer, observe::extendIndex(postedIn(data), srq.producer));
  if (std::exchange(srq.limitDue, false) && srq.producer - srq.consumed < srq.attributes.limit) {
    srq.attributes.limit = 0;
    raise(EventType::kSrqLimit, srq);
  }
  if (srq.producer > srq.fetched) return advance(srq);
  if (srq.ready.empty()) refuseWaiting(srq);
}

void SrqEngine::onEntries(SharedReceiveQueue& srq, ByteView data) {
  const std::size_t stride = std::size_t{1} << srq.attributes.logStride;
  std::uint32_t used = 0;
  while (used < srq.batchCount && srq.fetched < srq.producer && srq.next - srq.batchFirst < srq.batchCount) {
    const ByteView entry = data.subview((srq.next - srq.batchFirst) * stride, stride);
    srq.ready.push(parseReceiveWqe(entry.subview(sizeof(wire::NextSegment), stride - sizeof(wire::NextSegment)),
                                   srq.fetched, static_cast<std::uint16_t>(srq.next)));
    srq.next = structFrom<wire::NextSegment>(entry.subview(0, sizeof(wire::NextSegment))).nextIndex.host();
    ++srq.fetched;
    ++used;
  }
  srq.batch =
      used == srq.batchCount ? std::min(static_cast<std::uint32_t>(config_.receivePrefetch), 2 * srq.batch) : used;
  serveWaiting(srq);
  prefetch(srq.number);
}

// Below the limit, as it seems: software may have posted since the doorbell record was read.
void SrqEngine::checkLimit(SharedReceiveQueue& srq) {
  if (srq.producer - srq.consumed >= srq.attributes.limit) return;
  srq.limitDue = true;
  if (!srq.busy) readRecord(srq);
}

// Those that find nothing line up again.
void SrqEngine::serveWaiting(SharedReceiveQueue& srq) {
  for (std::size_t left = srq.waiting.size(); left > 0 && !srq.ready.empty(); --left) {
    QueuePair* qp = queuePairs_.find(srq.waiting.pop());
    if (qp != nullptr) listener_->onReceiveAvailable(*qp);
  }
}

void SrqEngine::refuseWaiting(SharedReceiveQueue& srq) {
  for (std::size_t left = srq.waiting.size(); left > 0; --left) {
    QueuePair* qp = queuePairs_.find(srq.waiting.pop());
    if (qp != nullptr) listener_->onReceiveEmpty(*qp);
  }
}

// A list that leads nowhere, or memory that can't be read. A queue pair fails when it next needs an entry.
void SrqEngine::fail(SharedReceiveQueue& srq) {
  srq.attributes.inError = true;
  srq.limitDue = false;
  srq.ready.clear();
  raise(EventType::kSrqCatastrophic, srq);
  for (std::size_t left = srq.waiting.size(); left > 0; --left) {
    QueuePair* qp = queuePairs_.find(srq.waiting.pop());
    if (qp != nullptr) listener_->onReceiveAvailable(*qp);
  }
}

void SrqEngine::raise(EventType type, const SharedReceiveQueue& srq) {
  EventRecord event;
  event.type = type;
  event.object = srq.number.value();
  events_.raise(event);
}

}  // namespace hca::adapter

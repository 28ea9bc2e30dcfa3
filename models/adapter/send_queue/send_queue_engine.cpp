#include "models/adapter/send_queue/send_queue_engine.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "models/adapter/requester/requester.h"
#include "models/adapter/send_queue/send_wqe_parser.h"
#include "models/adapter/transport/queue_token.h"
#include "models/adapter/transport/vendor_errors.h"
#include "models/observe/work_request_id.h"
#include "models/wire/wqe.h"

namespace hca::adapter {

namespace {
using Control = wire::ControlSegment;

std::uint32_t unitsOf(ByteView wqe) {
  return Control::Size::get(wire::loadBigEndian<std::uint32_t>(wqe.data() + offsetof(Control, qpSize)));
}
}  // namespace

SendQueueEngine::SendQueueEngine(const AdapterContext& context, const DatapathConfig& config, QpLookup& queuePairs,
                                 Requester& requester, CachePort& cache)
    : context_(context),
      config_(config),
      queuePairs_(queuePairs),
      requester_(requester),
      cache_(cache),
      doorbells_(context.calendar, kernel::Priority::kAdapter, *this, &SendQueueEngine::onDoorbellDue) {}

void SendQueueEngine::onDoorbell(UarIndex uar, ByteView bytes) {
  if (bytes.size() < wire::kSendDoorbellSize) {
    ++ignoredDoorbells_;
    return;
  }
  abandonCopy();
  Doorbell doorbell;
  doorbell.uar = uar;
  doorbell.indexWord = wire::loadBigEndian<std::uint32_t>(bytes.data());
  doorbell.qpWord = wire::loadBigEndian<std::uint32_t>(bytes.data() + sizeof doorbell.indexWord);
  if (bytes.size() < wire::kSendBlockSize) return accept(std::move(doorbell));
  const std::size_t size = std::max<std::size_t>(blocksOf(unitsOf(bytes)) * wire::kSendBlockSize, bytes.size());
  doorbell.blueFlame = context_.pool.acquire(size);
  std::memcpy(doorbell.blueFlame.mutableView().data(), bytes.data(), bytes.size());
  if (size == bytes.size()) return accept(std::move(doorbell));
  copy_ = std::move(doorbell);
  copyReceived_ = static_cast<std::uint32_t>(bytes.size());
}

void SendQueueEngine::onBlueFlameLine(UarIndex uar, std::uint32_t place, ByteView bytes) {
  if (copyReceived_ == 0 || copy_.uar != uar) return;  // of a copy that was taken as a plain doorbell
  if (place != copyReceived_ || bytes.size() > copy_.blueFlame.size() - copyReceived_) return abandonCopy();
  std::memcpy(copy_.blueFlame.mutableView().data() + place, bytes.data(), bytes.size());
  copyReceived_ += static_cast<std::uint32_t>(bytes.size());
  if (copyReceived_ < copy_.blueFlame.size()) return;
  copyReceived_ = 0;
  accept(std::move(copy_));
}

// What came so far of a copy is a doorbell all the same.
void SendQueueEngine::abandonCopy() {
  if (std::exchange(copyReceived_, 0) == 0) return;
  copy_.blueFlame = {};
  accept(std::move(copy_));
}

void SendQueueEngine::expectDoorbell(ByteView bytes) const {
  if (bytes.size() < wire::kSendDoorbellSize) return;
  const auto qpWord = wire::loadBigEndian<std::uint32_t>(bytes.data() + offsetof(Control, qpSize));
  queuePairs_.expect(QpNumber(Control::QpNumber::get(qpWord)));
}

void SendQueueEngine::accept(Doorbell doorbell) {
  const QueuePair* qp = queuePairs_.find(QpNumber(Control::QpNumber::get(doorbell.qpWord)));
  if (qp != nullptr) qp->requester.requests.prefetchBack();
  doorbells_.send(context_.after(config_.doorbellCycles), std::move(doorbell));
}

void SendQueueEngine::onDoorbellDue(Doorbell& doorbell) {
  QueuePair* qp = queuePairs_.find(QpNumber(Control::QpNumber::get(doorbell.qpWord)));
  if (qp == nullptr || qp->attributes.uar != doorbell.uar || !qp->takesRequests()) {
    ++ignoredDoorbells_;
    return;
  }
  if (!std::exchange(doorbell.contextLoaded, true)) {
    if (cache_.isLimited()) return hold(*qp, std::move(doorbell));
    cache_.access(CachedObject::kQpContext, qp->number.value());
  }
  SendQueueState& state = qp->send;
  const auto counter = static_cast<std::uint16_t>(Control::Index::get(doorbell.indexWord));
  const std::uint64_t index = observe::extendIndex(counter, state.producer);
  const std::uint64_t end = index + blocksOf(Control::Size::get(doorbell.qpWord));
  const std::uint64_t ring = std::uint64_t{1} << qp->attributes.logSendQueueSize;
  if (end <= state.producer || end > state.fetched + ring) {
    ++ignoredDoorbells_;  // announces nothing new, or more than the ring holds
    return;
  }
  state.producer = end;
  context_.probes.stage.fire([&] {
    return observe::StageEvent{observe::Stage::kDoorbellArrived,
                               context_.now(),
                               {context_.host, context_.adapter, qp->number, observe::WorkQueue::kSend, index}};
  });
  if (!doorbell.blueFlame.empty() && index == state.fetched && !state.fetching && state.partial.empty()) {
    return takeBlueFlame(*qp, doorbell.blueFlame.view());
  }
  fetch(*qp);
}

// Goes on at once if the context is there.
void SendQueueEngine::hold(const QueuePair& qp, Doorbell doorbell) {
  if (freeHeld_.empty()) {
    freeHeld_.push_back(held_.size());
    held_.emplace_back();
  }
  const std::uint64_t slot = freeHeld_.back();
  freeHeld_.pop_back();
  held_[slot] = std::move(doorbell);
  if (!cache_.misses(CachedObject::kQpContext, qp.number.value(), *this, slot)) onCacheReady(slot);
}

void SendQueueEngine::onCacheReady(std::uint64_t token) {
  Doorbell doorbell = std::move(held_[token]);
  freeHeld_.push_back(token);
  onDoorbellDue(doorbell);
}

// The WQE came with the doorbell: no fetch.
void SendQueueEngine::takeBlueFlame(QueuePair& qp, ByteView bytes) {
  const std::size_t size = unitsOf(bytes) * wire::kSegmentUnit;
  if (size > bytes.size()) return fetch(qp);
  submit(qp, bytes);
}

void SendQueueEngine::submit(QueuePair& qp, ByteView bytes) {
  SendRequest request = parseSendWqe(bytes, qp.send.fetched, qp.attributes.service, context_.pool);
  cache_.fill(CachedObject::kWorkRequest, workRequestKey(qp.number.value(), request.index));
  qp.send.fetched += request.blocks;
  requester_.submit(qp, std::move(request));
}

// Blocks from the next one to fetch to the end of the ring or of its page.
std::uint64_t SendQueueEngine::contiguousBlocks(const QueuePair& qp) const {
  const std::uint64_t ring = std::uint64_t{1} << qp.attributes.logSendQueueSize;
  const std::uint64_t next = qp.send.fetched + qp.send.partial.size() / wire::kSendBlockSize;
  const std::uint64_t place = next & (ring - 1);
  const PageList& buffer = qp.attributes.buffer;
  const std::uint64_t page = std::uint64_t{1} << buffer.logPageSize;
  const std::uint64_t position = qp.receiveBytes() + place * wire::kSendBlockSize + buffer.offset;
  return std::min(ring - place, (page - (position & (page - 1))) / wire::kSendBlockSize);
}

void SendQueueEngine::fetch(QueuePair& qp) {
  SendQueueState& state = qp.send;
  const std::uint64_t next = state.fetched + state.partial.size() / wire::kSendBlockSize;
  if (state.fetching || next >= state.producer || !qp.takesRequests()) return;
  state.fetching = true;
  const std::uint64_t ring = std::uint64_t{1} << qp.attributes.logSendQueueSize;
  const std::uint64_t limit = static_cast<std::uint64_t>(config_.wqeFetch.count()) / wire::kSendBlockSize;
  const std::uint64_t blocks = std::min({state.producer - next, limit, contiguousBlocks(qp)});
  pcie::DmaRead read;
  read.address = qp.attributes.buffer.address(qp.receiveBytes() + (next & (ring - 1)) * wire::kSendBlockSize);
  read.length = static_cast<std::uint32_t>(blocks * wire::kSendBlockSize);
  read.traffic = pcie::Traffic::kWqe;
  read.deliverAfter = context_.clock.span(config_.wqeParseCycles);
  read.client = this;
  read.token = QueueToken{0, state.epoch, qp.number.value()}.encoded();
  context_.dma.read(read);
}

void SendQueueEngine::onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) {
  const QueueToken queue = QueueToken::decode(token);
  QueuePair* qp = queuePairs_.find(QpNumber(queue.number));
  if (qp == nullptr || qp->send.epoch != queue.life) return;
  // Until all of it is handed over, nothing may be fetched: a request that fails at once resumes a queue whose next
  // requests are in `data`.
  const std::uint32_t epoch = qp->send.epoch;
  if (status != host::DmaStatus::kOk) {
    failFetch(*qp);
  } else {
    parseFetched(*qp, data);
  }
  if (qp->send.epoch != epoch) return;
  qp->send.fetching = false;
  fetch(*qp);
}

// Hands over every complete WQE of what was fetched before and now; keeps the rest.
void SendQueueEngine::parseFetched(QueuePair& qp, ByteView data) {
  SendQueueState& state = qp.send;
  kernel::Payload joined;
  if (!state.partial.empty()) {
    joined = context_.pool.acquire(state.partial.size() + data.size());
    std::memcpy(joined.mutableView().data(), state.partial.view().data(), state.partial.size());
    std::memcpy(joined.mutableView().data() + state.partial.size(), data.data(), data.size());
    state.partial = {};
    data = joined.view();
  }
  const std::uint32_t epoch = state.epoch;
  while (!data.empty()) {
    const std::size_t bytes = std::size_t{blocksOf(unitsOf(data))} * wire::kSendBlockSize;
    if (bytes > data.size()) break;
    submit(qp, data.subview(0, bytes));
    if (state.epoch != epoch) return;
    data = data.subview(bytes, data.size() - bytes);
  }
  if (data.empty()) return;
  const bool moreWillCome = state.fetched + data.size() / wire::kSendBlockSize < state.producer;
  if (moreWillCome) {
    state.partial = context_.pool.copyOf(data);
  } else {
    failFetch(qp);  // it reaches beyond what software posted
  }
}

// The WQE can't be had: it fails, and nothing behind it can be told apart.
void SendQueueEngine::failFetch(QueuePair& qp) {
  SendQueueState& state = qp.send;
  SendRequest request;
  request.index = state.fetched;
  request.faulted = true;
  request.syndrome = CqeSyndrome::kLocalQpOperation;
  request.vendorError = vendor_error::kMalformedWqe;
  state.partial = {};
  state.fetched = state.producer;
  requester_.submit(qp, std::move(request));
}

void SendQueueEngine::reset(QueuePair& qp) {
  const std::uint32_t epoch = qp.send.epoch + 1;
  qp.send = SendQueueState{};
  qp.send.epoch = epoch;
}

}  // namespace hca::adapter

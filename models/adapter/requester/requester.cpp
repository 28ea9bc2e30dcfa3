#include "models/adapter/requester/requester.h"

#include <algorithm>
#include <utility>

#include "models/adapter/requester/send_operation.h"
#include "models/adapter/transport/acknowledge.h"
#include "models/adapter/transport/psn.h"
#include "models/adapter/transport/vendor_errors.h"

namespace hca::adapter {

using observe::Stage;

Requester::Requester(const AdapterContext& context, const DatapathConfig& config, const Ports& ports)
    : context_(context),
      config_(config),
      ports_(ports),
      units_(config.processingUnits),
      unitTimer_(context.calendar, kernel::Priority::kAdapter, *this, &Requester::onUnitFree),
      ackTimers_(context.calendar, kernel::Priority::kAdapter, *this, &Requester::onAckTimeout),
      rnrTimers_(context.calendar, kernel::Priority::kAdapter, *this, &Requester::onRnrTimeout) {}

// ---- scheduling

void Requester::submit(QueuePair& qp, SendRequest request) {
  report(Stage::kWqeFetched, qp, request, context_.now());
  if (qp.inError()) {
    return completeWithError(qp, request, CqeSyndrome::kWorkRequestFlushed, vendor_error::kFlushed);
  }
  qp.requester.requests.push(std::move(request));
  schedule(qp);
}

bool Requester::hasWork(const QueuePair& qp) {
  const RequesterState& state = qp.requester;
  if (!qp.maySend() || state.waitingForRnr || state.cursor >= state.requests.size()) return false;
  const SendRequest& next = state.requests[state.cursor];
  if (next.faulted) return false;
  if (next.fence && state.readsInFlight > 0) return false;
  return !next.hasResponse() || state.readsInFlight < (1U << qp.attributes.logMaxOutstandingReads);
}

void Requester::schedule(QueuePair& qp) {
  failIfOldest(qp);
  if (qp.requester.queued || !hasWork(qp)) return;
  qp.requester.queued = true;
  ready_.push(qp.number);
  pump();
}

void Requester::pump() {
  while (!ready_.empty()) {
    if (units_.freeAt() > context_.now()) return unitTimer_.set(units_.freeAt());
    if (!ports_.egress.hasRoom(*this)) return;
    QueuePair* qp = ports_.queuePairs.find(ready_.pop());
    if (qp == nullptr || !std::exchange(qp->requester.queued, false) || !hasWork(*qp)) continue;
    units_.occupy(context_.after(config_.issueCycles));
    buildPacket(*qp);
    if (!qp->requester.queued && hasWork(*qp)) {
      qp->requester.queued = true;
      ready_.push(qp->number);
    }
  }
}

// ---- packets

void Requester::buildPacket(QueuePair& qp) {
  RequesterState& state = qp.requester;
  SendRequest& request = state.requests[state.cursor];
  if (!request.started && !start(qp, request)) return failIfOldest(qp);
  if (request.hasResponse()) return buildRead(qp, request);
  const std::uint32_t index = state.cursorPacket;
  const std::uint32_t offset = index * qp.attributes.mtu;
  const std::uint32_t length = std::min(request.length - offset, qp.attributes.mtu);
  segments_.clear();
  network::Packet packet = makePacket(qp, request, index);
  packet.payloadLength = length;
  if (request.isInline()) {
    packet.payload = context_.pool.copyOf(request.inlineData.view().subview(offset, length));
  } else if (length > 0 && !gather(qp, request, offset, length, Access::kLocalRead)) {
    fault(qp, request, CqeSyndrome::kLocalProtection, vendor_error::kLocalProtection);
    return failIfOldest(qp);
  }
  if (++state.cursorPacket == request.packets) {
    ++state.cursor;
    state.cursorPacket = 0;
  }
  ports_.egress.send(qp, state.egress, std::move(packet), segments_, this);
}

// One packet asks for all of a read, or for the rest of it when some responses are there already.
void Requester::buildRead(QueuePair& qp, SendRequest& request) {
  RequesterState& state = qp.requester;
  network::Packet packet = makePacket(qp, request, 0);
  const std::uint32_t offset = state.cursorPacket * qp.attributes.mtu;
  packet.psn = psnAdd(request.firstPsn, state.cursorPacket);
  packet.remoteAddress += offset;
  packet.dmaLength = request.isAtomic() ? 0 : request.length - offset;
  packet.swapOrAdd = request.swapOrAdd;
  packet.compare = request.compare;
  packet.ackRequest = true;
  ++state.readsInFlight;
  ++state.cursor;
  state.cursorPacket = 0;
  segments_.clear();
  ports_.egress.send(qp, state.egress, std::move(packet), segments_, this);
}

// Checks a request whose first packet is due and gives it its packet sequence numbers.
bool Requester::start(QueuePair& qp, SendRequest& request) {
  if (!isSupported(qp.attributes.service, request.opcode)) {
    fault(qp, request, CqeSyndrome::kLocalQpOperation, vendor_error::kUnknownOpcode);
    return false;
  }
  if (request.length > (std::uint64_t{1} << qp.attributes.logMaxMessage)) {
    fault(qp, request, CqeSyndrome::kLocalLength, vendor_error::kMessageTooLong);
    return false;
  }
  if (qp.attributes.service == QpService::kUd && request.length > qp.attributes.mtu) {
    fault(qp, request, CqeSyndrome::kLocalLength, vendor_error::kMessageTooLong);
    return false;
  }
  constexpr std::uint32_t kAtomicSize = 8;
  if (request.isAtomic() && request.length != kAtomicSize) {
    fault(qp, request, CqeSyndrome::kLocalLength, vendor_error::kLocalLength);
    return false;
  }
  request.started = true;
  request.packets = std::max(1U, (request.length + qp.attributes.mtu - 1) / qp.attributes.mtu);
  request.firstPsn = qp.requester.nextPsn;
  qp.requester.nextPsn = psnAdd(qp.requester.nextPsn, request.packets);
  report(Stage::kScheduled, qp, request, context_.now());
  return true;
}

network::Packet Requester::makePacket(const QueuePair& qp, const SendRequest& request, std::uint32_t index) const {
  const bool first = index == 0;
  const bool last = index + 1 == request.packets;
  network::Packet packet;
  const DatagramAddress* datagram = request.datagram.get();
  packet.route = ports_.routes.route(datagram == nullptr ? qp.attributes.path : datagram->path);
  packet.partitionKey = ports_.routes.port().partitionKey;
  packet.service = networkService(qp.attributes.service);
  packet.operation = operationFor(request.opcode, first, last);
  packet.destinationQp = datagram == nullptr ? qp.attributes.remoteQp : datagram->remoteQp;
  packet.psn = psnAdd(request.firstPsn, index);
  packet.solicited = request.solicited && last;
  packet.ackRequest =
      isReliable(qp.attributes.service) && (last || (index + 1) % static_cast<std::uint32_t>(config_.ackEvery) == 0);
  if (datagram != nullptr) {
    packet.queueKey = effectiveQueueKey(*datagram, qp.attributes.queueKey);
    packet.sourceQp = qp.number;
  }
  packet.immediate = request.immediateOrKey;
  if (first) {
    packet.remoteAddress = request.remoteAddress;
    packet.remoteKey = request.remoteKey;
    packet.dmaLength = request.length;
  }
  packet.request = idOf(qp, request);
  return packet;
}

// Appends to segments_ the bus addresses of bytes [offset, offset + length) of the request.
bool Requester::gather(const QueuePair& qp, const SendRequest& request, std::uint32_t offset, std::uint32_t length,
                       Access access) {
  std::uint64_t skip = offset;
  std::uint64_t left = length;
  for (std::size_t i = 0; i < request.segments.size() && left > 0; ++i) {
    const DataSegment& segment = request.segments[i];
    if (skip >= segment.length) {
      skip -= segment.length;
      continue;
    }
    const std::uint64_t take = std::min<std::uint64_t>(segment.length - skip, left);
    const AccessRequest piece{segment.key, qp.attributes.pd, qp.number, segment.address + skip, take, access};
    if (ports_.translator.translate(piece, segments_).fault != AccessFault::kNone) return false;
    left -= take;
    skip = 0;
  }
  return true;
}

void Requester::onPacketSent(QueuePair& qp, std::uint32_t psn, bool ackRequest, Time lastBit) {
  if (ackRequest && ackTimers_.deadline(qp.number.value()) == kForever) {
    const Time timeout = ackTimeout(qp.attributes.path.ackTimeout);
    if (timeout != kForever) ackTimers_.set(qp.number.value(), lastBit + timeout);
  }
  reportSent(qp, psn, lastBit);
  // Nobody acknowledges an unreliable request: it is done when its last packet has left.
  if (!isReliable(qp.attributes.service)) completeThrough(qp, psn);
}

void Requester::reportSent(const QueuePair& qp, std::uint32_t psn, Time lastBit) const {
  if (!context_.probes.stage.hasListeners()) return;
  for (std::size_t i = 0; i < qp.requester.requests.size(); ++i) {
    const SendRequest& request = qp.requester.requests[i];
    if (!request.started) return;
    const std::int32_t index = psnDistance(psn, request.firstPsn);
    if (index < 0 || index >= static_cast<std::int32_t>(request.packets)) continue;
    if (index == 0) report(Stage::kFirstPacketSent, qp, request, context_.now());
    if (index + 1 == static_cast<std::int32_t>(request.packets)) report(Stage::kLastPacketSent, qp, request, lastBit);
    return;
  }
}

// ---- acknowledgements

bool Requester::isOutstanding(const QueuePair& qp, std::uint32_t psn) const {
  const RequesterState& state = qp.requester;
  if (state.requests.empty() || !state.requests[0].started) return false;
  return psnDistance(psn, state.requests[0].firstPsn) >= 0 && psnDistance(psn, state.nextPsn) < 0;
}

void Requester::onResponse(QueuePair& qp, const network::Packet& packet) {
  if (!qp.maySend() || !isReliable(qp.attributes.service)) return;
  // A response to something never sent, or long done, is a ghost or a duplicate.
  if (!isOutstanding(qp, packet.psn)) return;
  if (packet.operation == network::Operation::kAcknowledge) return onAcknowledge(qp, packet);
  onReturnedData(qp, packet);
}

void Requester::onAcknowledge(QueuePair& qp, const network::Packet& packet) {
  const bool isAck = aeth::isAck(packet.syndrome);
  const std::uint32_t through = isAck ? packet.psn : psnAdd(packet.psn, kPsnMask);
  completeThrough(qp, through);
  if (!qp.maySend()) return;
  if (aeth::isRnrNak(packet.syndrome)) return onRnrNak(qp, packet);
  if (!isAck) return onNak(qp, packet);
  // An acknowledgement beyond a read whose data never came: the response was lost (InfiniBand volume 1, 9.7.5.1.4).
  const RequesterState& state = qp.requester;
  if (!state.requests.empty() && state.requests[0].hasResponse() && state.requests[0].started &&
      psnDistance(packet.psn, state.requests[0].firstPsn) >= 0) {
    return recover(qp);
  }
  onProgress(qp);
}

// Asks once for the first response that is missing; what follows it comes again behind it.
void Requester::recover(QueuePair& qp) {
  if (std::exchange(qp.requester.recovering, true)) return;
  const SendRequest& oldest = qp.requester.requests[0];
  retry(qp, psnAdd(oldest.firstPsn, oldest.packetsReturned));
}

void Requester::onProgress(QueuePair& qp) {
  qp.requester.recovering = false;
  qp.requester.retriesLeft = qp.attributes.retryCount;
  qp.requester.rnrRetriesLeft = qp.attributes.rnrRetry;
  restartAckTimer(qp);
  schedule(qp);
}

// A read response or atomic acknowledgement: the next expected one, or something before it is missing.
void Requester::onReturnedData(QueuePair& qp, const network::Packet& packet) {
  RequesterState& state = qp.requester;
  completeThrough(qp, psnAdd(packet.psn, kPsnMask));
  if (!qp.maySend() || state.requests.empty() || !state.requests.front().started) return;
  SendRequest& oldest = state.requests.front();
  const std::uint32_t expected = psnAdd(oldest.firstPsn, oldest.packetsReturned);
  if (!oldest.hasResponse() || psnDistance(packet.psn, expected) < 0) return;
  if (packet.psn != expected) return recover(qp);
  const bool placed = placeReturned(qp, oldest, packet);
  if (!placed) return failOldest(qp, CqeSyndrome::kLocalProtection, vendor_error::kLocalProtection);
  if (++oldest.packetsReturned == oldest.packets) {
    const SendRequest request = std::move(oldest);
    popOldest(qp);
    complete(qp, request);
    if (qp.inError()) return;
  }
  onProgress(qp);
}

// Writes returned data where the request wants it.
bool Requester::placeReturned(const QueuePair& qp, const SendRequest& request, const network::Packet& packet) {
  constexpr std::uint32_t kAtomicSize = 8;
  const std::uint32_t length = request.isAtomic() ? kAtomicSize : packet.payloadLength;
  segments_.clear();
  if (!gather(qp, request, request.packetsReturned * qp.attributes.mtu, length, Access::kLocalWrite)) return false;
  const ByteView data = request.isAtomic() ? bytesOf(packet.atomicResult) : packet.payload.view();
  std::uint32_t offset = 0;
  for (const Segment& segment : segments_) {
    pcie::DmaWrite write;
    write.address = segment.address;
    write.length = segment.length;
    if (!data.empty()) write.data = data.subview(offset, segment.length);
    context_.dma.write(write);
    offset += segment.length;
  }
  return true;
}

void Requester::onRnrNak(QueuePair& qp, const network::Packet& packet) {
  constexpr std::uint8_t kForEver = 7;
  RequesterState& state = qp.requester;
  if (qp.attributes.rnrRetry != kForEver && state.rnrRetriesLeft == 0) {
    return failOldest(qp, CqeSyndrome::kRnrRetryExceeded, vendor_error::kRnrRetryExceeded);
  }
  if (qp.attributes.rnrRetry != kForEver) --state.rnrRetriesLeft;
  goBackTo(qp, packet.psn);
  ackTimers_.cancel(qp.number.value());
  state.waitingForRnr = true;
  rnrTimers_.set(qp.number.value(), context_.now() + rnrDelay(packet.syndrome & 0x1F));
}

void Requester::onRnrTimeout(std::uint32_t qpNumber) {
  QueuePair* qp = ports_.queuePairs.find(QpNumber(qpNumber));
  if (qp == nullptr) return;
  qp->requester.waitingForRnr = false;
  schedule(*qp);
}

void Requester::onNak(QueuePair& qp, const network::Packet& packet) {
  switch (packet.syndrome) {
    case aeth::kNakSequence:
      return retry(qp, packet.psn);
    case aeth::kNakInvalidRequest:
      return failOldest(qp, CqeSyndrome::kRemoteInvalidRequest, vendor_error::kRemoteInvalidRequest);
    case aeth::kNakRemoteAccess:
      return failOldest(qp, CqeSyndrome::kRemoteAccess, vendor_error::kRemoteAccess);
    case aeth::kNakRemoteOperation:
      return failOldest(qp, CqeSyndrome::kRemoteOperation, vendor_error::kRemoteOperation);
    default:
      return failOldest(qp, CqeSyndrome::kBadResponse, vendor_error::kNone);
  }
}

void Requester::onAckTimeout(std::uint32_t qpNumber) {
  QueuePair* qp = ports_.queuePairs.find(QpNumber(qpNumber));
  if (qp == nullptr || !qp->maySend()) return;
  const RequesterState& state = qp->requester;
  if (state.requests.empty() || !state.requests[0].started) return;
  qp->requester.recovering = false;
  retry(*qp, psnAdd(state.requests[0].firstPsn, state.requests[0].packetsReturned));
}

void Requester::retry(QueuePair& qp, std::uint32_t psn) {
  if (qp.requester.retriesLeft == 0) {
    return failOldest(qp, CqeSyndrome::kTransportRetryExceeded, vendor_error::kRetryExceeded);
  }
  --qp.requester.retriesLeft;
  goBackTo(qp, psn);
  ackTimers_.cancel(qp.number.value());
  schedule(qp);
}

// Makes `psn` the next packet to be built.
void Requester::goBackTo(QueuePair& qp, std::uint32_t psn) {
  RequesterState& state = qp.requester;
  ports_.egress.cancel(state.egress);
  std::uint32_t readsBefore = 0;
  for (std::uint32_t i = 0; i < state.requests.size() && state.requests[i].started; ++i) {
    const SendRequest& request = state.requests[i];
    const std::int32_t index = psnDistance(psn, request.firstPsn);
    if (index < 0 || index >= static_cast<std::int32_t>(request.packets)) {
      if (request.hasResponse()) ++readsBefore;
      continue;
    }
    ++retransmissions_;
    state.readsInFlight = readsBefore;
    state.cursor = i;
    state.cursorPacket = static_cast<std::uint32_t>(index);
    return;
  }
}

// ---- completions

// Completes, in order, every request whose last packet is `psn` or before it.
void Requester::completeThrough(QueuePair& qp, std::uint32_t psn) {
  RequesterState& state = qp.requester;
  while (!state.requests.empty()) {
    SendRequest& oldest = state.requests.front();
    if (!oldest.started || psnDistance(psn, psnAdd(oldest.firstPsn, oldest.packets - 1)) < 0) break;
    if (oldest.hasResponse()) break;  // its data complete it
    const SendRequest request = std::move(oldest);
    popOldest(qp);
    complete(qp, request);
    if (qp.inError()) return;  // the completion queue refused it
  }
}

void Requester::popOldest(QueuePair& qp) {
  RequesterState& state = qp.requester;
  const bool wasRead = state.requests.pop().hasResponse();
  if (state.cursor > 0) {
    --state.cursor;
    if (wasRead && state.readsInFlight > 0) --state.readsInFlight;
  } else {
    state.cursorPacket = 0;  // answered while it was being sent again
  }
}

void Requester::restartAckTimer(QueuePair& qp) {
  const RequesterState& state = qp.requester;
  const bool outstanding = state.cursor > 0 || state.cursorPacket > 0;
  const Time timeout = ackTimeout(qp.attributes.path.ackTimeout);
  if (outstanding && timeout != kForever) {
    ackTimers_.set(qp.number.value(), context_.now() + timeout);
  } else {
    ackTimers_.cancel(qp.number.value());
  }
}

void Requester::complete(QueuePair& qp, const SendRequest& request) {
  report(Stage::kAcknowledged, qp, request, context_.now());
  if (request.completion == CompletionMode::kOnError || request.completion == CompletionMode::kOnFirstError) return;
  ports_.completions.complete(recordOf(qp, request));
}

CompletionRecord Requester::recordOf(const QueuePair& qp, const SendRequest& request) const {
  CompletionRecord record;
  record.cq = qp.attributes.sendCq;
  record.qp = qp.number;
  record.userIndex = qp.attributes.userIndex;
  record.opcode = CqeOpcode::kRequester;
  record.sendOpcode = static_cast<std::uint8_t>(request.opcode);
  record.wqeCounter = static_cast<std::uint16_t>(request.index);
  record.byteCount = request.length;
  record.forceEvent = request.completion == CompletionMode::kAlwaysWithEvent;
  record.request = idOf(qp, request);
  return record;
}

void Requester::completeWithError(QueuePair& qp, const SendRequest& request, CqeSyndrome syndrome,
                                  std::uint8_t vendorError) {
  CompletionRecord record = recordOf(qp, request);
  record.opcode = CqeOpcode::kRequesterError;
  record.syndrome = syndrome;
  record.vendorError = vendorError;
  ports_.completions.complete(record);
}

void Requester::fault(QueuePair& qp, SendRequest& request, CqeSyndrome syndrome, std::uint8_t vendorError) {
  (void)qp;
  request.faulted = true;
  request.syndrome = syndrome;
  request.vendorError = vendorError;
}

void Requester::onPayloadUnreadable(QueuePair& qp, std::uint32_t psn) {
  goBackTo(qp, psn);
  RequesterState& state = qp.requester;
  if (state.cursor >= state.requests.size()) return;
  fault(qp, state.requests[state.cursor], CqeSyndrome::kLocalProtection, vendor_error::kUnreadableMemory);
  failIfOldest(qp);
}

void Requester::failIfOldest(QueuePair& qp) {
  const RequesterState& state = qp.requester;
  if (state.requests.empty() || !state.requests[0].faulted) return;
  failOldest(qp, state.requests[0].syndrome, state.requests[0].vendorError);
}

void Requester::failOldest(QueuePair& qp, CqeSyndrome syndrome, std::uint8_t vendorError) {
  RequesterState& state = qp.requester;
  if (state.requests.empty()) return;
  const SendRequest request = state.requests.pop();
  state.cursor = 0;
  completeWithError(qp, request, syndrome, vendorError);
  ports_.errors.onRequesterError(qp);
}

void Requester::flush(QueuePair& qp) {
  RequesterState& state = qp.requester;
  ports_.egress.cancel(state.egress);
  ackTimers_.cancel(qp.number.value());
  rnrTimers_.cancel(qp.number.value());
  state.waitingForRnr = false;
  state.readsInFlight = 0;
  state.cursor = 0;
  state.cursorPacket = 0;
  while (!state.requests.empty()) {
    const SendRequest request = state.requests.pop();
    completeWithError(qp, request, CqeSyndrome::kWorkRequestFlushed, vendor_error::kFlushed);
  }
}

void Requester::reset(QueuePair& qp) {
  ports_.egress.cancel(qp.requester.egress);
  ackTimers_.cancel(qp.number.value());
  rnrTimers_.cancel(qp.number.value());
  qp.requester = RequesterState{};
}

// ---- observation

observe::WorkRequestId Requester::idOf(const QueuePair& qp, const SendRequest& request) const {
  return {context_.host, context_.adapter, qp.number, observe::WorkQueue::kSend, request.index};
}

void Requester::report(Stage stage, const QueuePair& qp, const SendRequest& request, Time when) const {
  context_.probes.stage.fire([&] { return observe::StageEvent{stage, when, idOf(qp, request)}; });
}

}  // namespace hca::adapter

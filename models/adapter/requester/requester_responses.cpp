// What the peer answers: acknowledgements, NAKs, returned data, or nothing.
#include <utility>

#include "models/adapter/completion/inline_scatter.h"
#include "models/adapter/requester/requester.h"
#include "models/adapter/transport/acknowledge.h"
#include "models/adapter/transport/psn.h"
#include "models/adapter/transport/vendor_errors.h"

namespace hca::adapter {
namespace {

std::uint32_t returnedLength(const SendRequest& request, const network::Packet& packet) {
  return request.isAtomic() ? static_cast<std::uint32_t>(sizeof packet.atomicResult) : packet.payloadLength;
}

ByteView returnedData(const SendRequest& request, const network::Packet& packet) {
  return request.isAtomic() ? bytesOf(packet.atomicResult) : packet.payload.view();
}

}  // namespace

bool Requester::isOutstanding(const QueuePair& qp, std::uint32_t psn) const {
  const RequesterState& state = qp.requester;
  if (state.requests.empty() || !state.requests[0].started) return false;
  return psnDistance(psn, state.requests[0].firstPsn) >= 0 && psnDistance(psn, state.nextPsn) < 0;
}

void Requester::onResponse(QueuePair& qp, const network::Packet& packet) {
  if (!qp.isSending() || !isReliable(qp.attributes.service)) return;
  // A response to something never sent, or long done, is a ghost or a duplicate.
  if (!isOutstanding(qp, packet.psn)) return;
  if (packet.operation == network::Operation::kAcknowledge) return onAcknowledge(qp, packet);
  onReturnedData(qp, packet);
}

void Requester::onAcknowledge(QueuePair& qp, const network::Packet& packet) {
  const bool isAck = aeth::isAck(packet.syndrome);
  const std::uint32_t through = isAck ? packet.psn : psnAdd(packet.psn, kPsnMask);
  completeThrough(qp, through);
  if (!qp.isSending()) return;
  // An answer to something behind a read whose data never came: the response was lost (InfiniBand volume 1,
  // 9.7.5.1.4). What is behind it will be answered again.
  const RequesterState& state = qp.requester;
  if (!state.requests.empty() && state.requests[0].hasResponse() && state.requests[0].started &&
      psnDistance(through, state.requests[0].firstPsn) >= 0) {
    return recover(qp);
  }
  if (aeth::isRnrNak(packet.syndrome)) return onRnrNak(qp, packet);
  if (!isAck) return onNak(qp, packet);
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
  if (!qp.isSending() || state.requests.empty() || !state.requests.front().started) return;
  SendRequest& oldest = state.requests.front();
  const std::uint32_t expected = psnAdd(oldest.firstPsn, oldest.packetsReturned);
  if (!oldest.hasResponse() || psnDistance(packet.psn, expected) < 0) return;
  if (packet.psn != expected) return recover(qp);
  const bool inlined = fitsEntry(qp, oldest);
  if (!placeReturned(qp, oldest, packet, inlined))
    return failOldest(qp, CqeSyndrome::kLocalProtection, vendor_error::kLocalProtection);
  if (++oldest.packetsReturned == oldest.packets) {
    const SendRequest request = std::move(oldest);
    popOldest(qp);
    CompletionRecord record = recordOf(qp, request);
    if (inlined) putInline(record, returnedData(request, packet), returnedLength(request, packet));
    complete(qp, request, record);
    completeMemoryOperations(qp);
    if (qp.inError()) return;
  }
  onProgress(qp);
}

// Whether all that the request returns goes into its completion (qpc.cs_req). One that completes quietly has no entry.
bool Requester::fitsEntry(const QueuePair& qp, const SendRequest& request) {
  const bool signaled =
      request.completion == CompletionMode::kAlways || request.completion == CompletionMode::kAlwaysWithEvent;
  return signaled && request.rendezvous == nullptr && request.length != 0 &&
         request.length <= requesterInlineRoom(qp.attributes.requesterInlineScatter);
}

// Writes returned data where the request wants it, or only looks whether it may: where the completion carries them.
bool Requester::placeReturned(const QueuePair& qp, const SendRequest& request, const network::Packet& packet,
                              bool inlined) {
  const std::uint32_t length = returnedLength(request, packet);
  segments_.clear();
  const CachePort::Bypass translated(ports_.cache);  // when the request was built
  if (!gather(qp, request, request.packetsReturned * qp.attributes.mtu, length, Access::kLocalWrite)) return false;
  if (inlined) return true;
  const ByteView data = returnedData(request, packet);
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
      return failOldest(qp, CqeSyndrome::kBadResponse, vendor_error::kBadResponse);
  }
}

void Requester::onAckTimeout(std::uint32_t qpNumber) {
  QueuePair* qp = ports_.queuePairs.find(QpNumber(qpNumber));
  if (qp == nullptr || !qp->isSending()) return;
  const RequesterState& state = qp->requester;
  if (state.requests.empty() || !state.requests[0].started) return;
  qp->requester.recovering = false;
  qp->requester.mustConnect = qp->requester.connected;
  retry(*qp, psnAdd(state.requests[0].firstPsn, state.requests[0].packetsReturned));
}

void Requester::retry(QueuePair& qp, std::uint32_t psn) {
  if (qp.requester.retriesLeft == 0) {
    if (!ports_.errors.onPathFailed(qp)) {
      return failOldest(qp, CqeSyndrome::kTransportRetryExceeded, vendor_error::kRetryExceeded);
    }
    qp.requester.retriesLeft = qp.attributes.retryCount;
  } else {
    --qp.requester.retriesLeft;
  }
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

}  // namespace hca::adapter

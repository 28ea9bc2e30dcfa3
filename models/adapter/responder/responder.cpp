#include "models/adapter/responder/responder.h"

#include <algorithm>
#include <utility>

#include "models/adapter/completion/inline_scatter.h"
#include "models/adapter/responder/global_route.h"
#include "models/adapter/responder/message_rules.h"
#include "models/adapter/transport/acknowledge.h"
#include "models/adapter/transport/psn.h"
#include "models/adapter/transport/vendor_errors.h"
#include "models/network/ethernet_frame.h"
#include "models/network/packet_layout.h"

namespace hca::adapter {

using Message = ResponderState::Message;

Responder::Responder(const AdapterContext& context, const DatapathConfig& config, const Ports& ports)
    : context_(context),
      config_(config),
      ports_(ports),
      ackTimers_(context.calendar, kernel::Priority::kAdapter, *this, &Responder::onAckDelay) {
  ports_.receiveQueue.connect(*this);
  ports_.responses.connect(*this);
  ports_.atomics.connect(*this);
}

void Responder::onRequest(QueuePair& qp, network::Packet& packet) {
  if (qp.attributes.state == QpState::kReadyToReceive) reportEstablished(qp);
  if (qp.responder.isWaiting()) return qp.responder.waiting.push(std::move(packet));
  process(qp, packet);
}

// InfiniBand volume 1, 11.6.3.2: the peer of a connection sends already, though its last handshake is not here yet.
void Responder::reportEstablished(QueuePair& qp) {
  if (isDatagram(qp.attributes.service) || std::exchange(qp.responder.established, true)) return;
  ports_.errors.onCommunicationEstablished(qp);
}

void Responder::process(QueuePair& qp, network::Packet& packet) {
  if (isReliable(qp.attributes.service)) return processReliable(qp, packet);
  processUnreliable(qp, packet);
}

// Sequence check, InfiniBand volume 1, 9.7.1 and 9.7.5.1.1.
void Responder::processReliable(QueuePair& qp, network::Packet& packet) {
  ResponderState& state = qp.responder;
  const std::int32_t distance = psnDistance(packet.psn, state.expectedPsn);
  if (distance < 0) return processDuplicate(qp, packet);
  if (distance > 0) {
    if (std::exchange(state.nakSent, true)) return;
    ++sequenceNaks_;
    return acknowledge(qp, aeth::kNakSequence, state.expectedPsn);
  }
  if (!executeOrWait(qp, packet)) return;
  state.nakSent = false;
  state.expectedPsn = psnAdd(state.expectedPsn, sequenceNumbersOf(packet, qp.attributes.mtu));
  if (hasOwnResponse(packet.operation)) return;
  if (endsMessage(packet.operation)) finishMessage(qp, packet);
  if (packet.ackRequest) answer(qp, packet.psn);
}

// InfiniBand volume 1, 9.8.2.2: a gap costs the message under way; the next one that begins is welcome.
void Responder::processUnreliable(QueuePair& qp, network::Packet& packet) {
  ResponderState& state = qp.responder;
  const bool begins = beginsMessage(packet.operation);
  const bool inSequence = packet.psn == state.expectedPsn || isDatagram(qp.attributes.service);
  if (!inSequence || (begins && state.message != Message::kNone)) {
    if (state.message != Message::kNone) breakOff(qp);
  }
  if (!begins && state.message == Message::kNone) return;
  if (!executeOrWait(qp, packet)) return;
  state.expectedPsn = psnAdd(packet.psn, 1);
  if (endsMessage(packet.operation)) finishMessage(qp, packet);
}

bool Responder::executeOrWait(QueuePair& qp, network::Packet& packet) {
  const Outcome outcome = execute(qp, packet);
  if (outcome == Outcome::kWait || outcome == Outcome::kMissed) {
    ResponderState& state = qp.responder;
    (outcome == Outcome::kWait ? state.waitingForReceive : state.waitingForCache) = true;
    if (beginsMessage(packet.operation)) state.message = Message::kNone;  // begins again
    state.waiting.push(std::move(packet));
  }
  return outcome == Outcome::kDone;
}

// InfiniBand volume 1, 9.7.5.1.2: a duplicate read is executed again, a duplicate atomic is answered with its stored
// result, anything else is acknowledged again.
void Responder::processDuplicate(QueuePair& qp, const network::Packet& packet) {
  ResponderState& state = qp.responder;
  ++duplicates_;
  if (packet.operation == network::Operation::kReadRequest) {
    if (mayRead(qp, packet)) send(qp, readResponse(packet, state.messageNumber, remoteDomain(qp, packet)));
    return;
  }
  if (network::carriesAtomic(packet.operation)) {
    for (std::size_t i = 0; i < state.replays.size(); ++i) {
      if (state.replays[i].psn != packet.psn) continue;
      Response replay = atomicResponse(packet, state.messageNumber);
      replay.ready = true;
      replay.result = state.replays[i].result;
      return send(qp, replay);
    }
    return;
  }
  if (packet.ackRequest) acknowledge(qp, aeth::kAck, psnAdd(state.expectedPsn, kPsnMask));
}

Responder::Outcome Responder::execute(QueuePair& qp, network::Packet& packet) {
  ResponderState& state = qp.responder;
  const bool begins = beginsMessage(packet.operation);
  if (begins != (state.message == Message::kNone) || !hasLegalLength(packet, qp.attributes.mtu)) {
    return refuse(qp, packet, aeth::kNakInvalidRequest, EventType::kWqInvalidRequest);
  }
  if (qp.isXrc() && !selectSharedQueue(qp, packet)) {
    return refuse(qp, packet, aeth::kNakInvalidRequest, EventType::kWqInvalidRequest);
  }
  if (isSend(packet.operation)) return executeSend(qp, packet);
  if (isWrite(packet.operation)) return executeWrite(qp, packet);
  if (packet.operation == network::Operation::kReadRequest) return executeRead(qp, packet);
  if (network::carriesAtomic(packet.operation)) return executeAtomic(qp, packet);
  return refuse(qp, packet, aeth::kNakInvalidRequest, EventType::kWqInvalidRequest);
}

Responder::Outcome Responder::executeSend(QueuePair& qp, const network::Packet& packet) {
  ResponderState& state = qp.responder;
  if (state.message == Message::kWrite)
    return refuse(qp, packet, aeth::kNakInvalidRequest, EventType::kWqInvalidRequest);
  if (state.message == Message::kNone) {
    const Outcome taken = ports_.tags.serves(qp) ? beginTagged(qp, packet) : takeReceive(qp, packet);
    if (taken != Outcome::kDone) return taken;
    state.message = Message::kSend;
    state.received = 0;
    if (hasDatagrams(qp.attributes.service) && !placeGlobalRoute(qp, packet)) return Outcome::kFailed;
  }
  const Outcome outcome = placeInReceive(qp, packet);
  if (outcome != Outcome::kDone || !network::carriesInvalidate(packet.operation)) return outcome;
  return invalidate(qp, packet);
}

// The peer gives a key of ours back. One that it may not invalidate ends both sides' request in error: a responder's
// class J fault (InfiniBand volume 1, 9.9.3), of which Linux drivers/infiniband/sw/rxe/rxe_resp.c gives the receive's
// status. The answer is the NAK of a key violation.
Responder::Outcome Responder::invalidate(QueuePair& qp, const network::Packet& packet) {
  const KeyInvalidation request{MemoryKey(packet.immediate), remoteDomain(qp, packet), qp.number, true};
  if (ports_.keys.invalidate(request) == KeyFault::kNone) return Outcome::kDone;
  return failReceive(qp, packet, CqeSyndrome::kRemoteInvalidRequest, vendor_error::kMemoryKeyRefused,
                     aeth::kNakRemoteAccess);
}

Responder::Outcome Responder::executeWrite(QueuePair& qp, const network::Packet& packet) {
  ResponderState& state = qp.responder;
  if (state.message == Message::kSend)
    return refuse(qp, packet, aeth::kNakInvalidRequest, EventType::kWqInvalidRequest);
  if (network::carriesImmediate(packet.operation)) {
    if (const Outcome taken = takeReceive(qp, packet); taken != Outcome::kDone) return taken;
  }
  if (beginsMessage(packet.operation) && startWrite(qp, packet) == Outcome::kFailed) return Outcome::kFailed;
  return placeByWrite(qp, packet);
}

// Each request names the shared queue that it is for, with the right to memory of that queue's protection domain. The
// queue must be of the queue pair's XRC domain, and one and the same for a whole message.
bool Responder::selectSharedQueue(QueuePair& qp, const network::Packet& packet) {
  ResponderState& state = qp.responder;
  if (!beginsMessage(packet.operation)) return packet.sharedQueue == state.sharedQueue;
  state.sharedQueue = packet.sharedQueue;
  return ports_.receiveQueue.isOfDomain(packet.sharedQueue, qp.attributes.domain);
}

PdNumber Responder::remoteDomain(const QueuePair& qp, const network::Packet& packet) const {
  return qp.isXrc() ? ports_.receiveQueue.domainOf(packet.sharedQueue) : qp.attributes.pd;
}

Responder::Outcome Responder::takeReceive(QueuePair& qp, const network::Packet& packet) {
  ResponderState& state = qp.responder;
  if (state.hasReceive) return Outcome::kDone;
  if (qp.attributes.striding.isOn) return takeStrides(qp, packet);
  const ReceiveQueueEngine::Take taken = ports_.receiveQueue.take(qp, state.receive);
  if (taken == ReceiveQueueEngine::Take::kPending) return Outcome::kWait;
  if (taken == ReceiveQueueEngine::Take::kFailed) {
    if (isReliable(qp.attributes.service)) acknowledge(qp, aeth::kNakRemoteOperation, packet.psn);
    ports_.errors.onResponderError(qp, EventType::kWqCatastrophic);
    return Outcome::kFailed;
  }
  state.hasReceive = true;
  return Outcome::kDone;
}

// The receive WQE under way: whose it is, and where it completes.
CompletionRecord Responder::receiveRecord(const QueuePair& qp) const {
  const ReceiveWqe& receive = qp.responder.receive;
  CompletionRecord record;
  record.cq = qp.attributes.receiveCq;
  record.qp = qp.reportedNumber();
  record.userIndex = qp.attributes.userIndex;
  record.wqeCounter = receive.counter;
  record.request = {context_.host, context_.adapter, record.qp, observe::WorkQueue::kReceive, receive.index};
  if (qp.usesSharedQueue()) {
    ports_.receiveQueue.describeShared(qp, record);
  } else if (record.userIndex == kNoUserIndex) {
    record.userIndex = 0;  // no shared queue
  }
  return record;
}

void Responder::finishReceive(QueuePair& qp, const CompletionRecord& record) {
  qp.responder.hasReceive = false;
  if (!qp.responder.tagged.tookTag()) ports_.receiveQueue.release(qp);
  qp.responder.tagged = {};
  ports_.completions.complete(record);
}

void Responder::finishMessage(QueuePair& qp, const network::Packet& packet) {
  ResponderState& state = qp.responder;
  context_.probes.stage.fire([&] {
    return observe::StageEvent{observe::Stage::kLastPacketArrived, context_.now(), packet.request};
  });
  state.message = Message::kNone;
  state.messageNumber = psnAdd(state.messageNumber, 1);
  // A write leaves alone what was taken for a send that got lost.
  const bool takesReceive = isSend(packet.operation) || network::carriesImmediate(packet.operation);
  if (takesReceive && state.hasReceive) completeReceive(qp, packet);
  state.tagged = {};
}

void Responder::describeFrame(const network::Packet& packet, CompletionRecord& record) {
  const network::EthernetFrame frame = network::readFrame(packet.payload.view().subview(0, packet.payloadLength));
  record.frame.emplace();
  record.frame->flowTag = packet.flowTag;
  record.frame->vlan = packet.vlanTag;
  record.frame->hadVlan = packet.hadVlanTag;
  record.frame->rssHash = packet.rssHash;
  record.frame->rssHashType = packet.rssHashType;
  record.frame->networkOk = frame.networkChecksumOk;
  record.frame->transportOk = frame.transportChecksumOk;
  constexpr std::uint8_t kIpv6 = 1, kIpv4 = 2, kUdp = 2, kTcp = 4;
  using Frame = network::EthernetFrame;
  if (frame.network != Frame::Network::kOther) {
    record.frame->networkType = frame.network == Frame::Network::kIpv4 ? kIpv4 : kIpv6;
  }
  if (frame.transport != Frame::Transport::kOther) {
    record.frame->transportType = frame.transport == Frame::Transport::kUdp ? kUdp : kTcp;
  }
  record.checksum = frame.checksum;
}

void Responder::completeReceive(QueuePair& qp, const network::Packet& packet) {
  CompletionRecord record = receiveRecord(qp);
  record.opcode = receiveOpcode(packet.operation);
  record.byteCount = qp.responder.received;
  // Where neither an immediate nor a key is, the partition's index is (Linux include/linux/mlx5/device.h).
  const bool hasImmediate = network::carriesImmediate(packet.operation) || network::carriesInvalidate(packet.operation);
  record.immediateOrKey = hasImmediate ? packet.immediate : qp.attributes.path.partitionIndex;
  const bool isDatagram = hasDatagrams(qp.attributes.service);
  record.remoteQp = isDatagram ? packet.sourceQp : qp.attributes.remoteQp;
  record.globalRouteInBuffer = isDatagram && packet.route.globalRoute;
  record.sourceLid = packet.route.sourceLid.value();
  record.serviceLevel = packet.route.serviceLevel;
  if (!network::isMulticast(packet.route)) {
    record.pathBits = packet.route.destinationLid.value() & ports_.routes.pathMask(qp.attributes.path.port);
  }
  record.solicited = packet.solicited;
  if (qp.attributes.service == QpService::kRaw) describeFrame(packet, record);
  if (fitsEntry(qp, packet)) putInline(record, packet.payload.view(), packet.payloadLength);
  if (qp.responder.tagged.kind != TaggedMessage::Kind::kNone) describeTagged(qp, record);
  if (qp.attributes.striding.isOn) describeStrides(qp, record);
  finishReceive(qp, record);
}

// A message of an unreliable connection ends before its end: dropped silently (InfiniBand volume 1, 9.8.3). A receive
// WQE that was taken waits for the next message. One of a shared queue can't wait, because another queue pair may need
// it: it completes as aborted by the requester (11.6.2, remote aborted error), and the queue pair goes on.
void Responder::breakOff(QueuePair& qp) {
  ResponderState& state = qp.responder;
  ++unreliableDrops_;
  const bool heldShared = state.message == Message::kSend && state.hasReceive && qp.usesSharedQueue();
  state.message = Message::kNone;
  if (heldShared) failHeld(qp, CqeSyndrome::kRemoteAborted, vendor_error::kBrokenOff);
}

// A request that breaks the rules: NAK, affiliated event, error.
Responder::Outcome Responder::refuse(QueuePair& qp, const network::Packet& packet, std::uint8_t nak, EventType event) {
  if (!isReliable(qp.attributes.service)) {
    breakOff(qp);
    return Outcome::kFailed;
  }
  acknowledge(qp, nak, packet.psn);
  // The memory of an RDMA WRITE with immediate data was there when it began: its end has a receive to report that in
  // (InfiniBand volume 1, 11.6.2, local access error).
  const bool takenAway = nak == aeth::kNakRemoteAccess && !beginsMessage(packet.operation);
  if (takenAway && network::carriesImmediate(packet.operation) && qp.responder.hasReceive) {
    failHeld(qp, CqeSyndrome::kLocalAccess, vendor_error::kLocalAccess);
  }
  ports_.errors.onResponderError(qp, event);
  return Outcome::kFailed;
}

// The receive WQE can't take the message: it reports why, the peer learns that its request failed.
Responder::Outcome Responder::failReceive(QueuePair& qp, const network::Packet& packet, CqeSyndrome syndrome,
                                          std::uint8_t vendorError, std::uint8_t nak) {
  if (isReliable(qp.attributes.service)) acknowledge(qp, nak, packet.psn);
  failHeld(qp, syndrome, vendorError);
  ports_.errors.onResponderError(qp, EventType::kCompletion);
  return Outcome::kFailed;
}

void Responder::failHeld(QueuePair& qp, CqeSyndrome syndrome, std::uint8_t vendorError) {
  if (qp.responder.tagged.tookTag()) {
    const auto canceled = wire::TagCompletion::kMessageCompletionCanceled;
    return finishReceive(qp, ports_.tags.recordOf(qp, canceled, qp.responder.tagged.place));
  }
  qp.receive.striding.isOpen = false;
  CompletionRecord record = receiveRecord(qp);
  record.opcode = CqeOpcode::kResponderError;
  record.syndrome = syndrome;
  record.vendorError = vendorError;
  finishReceive(qp, record);
}

void Responder::stop(QueuePair& qp) {
  ResponderState& state = qp.responder;
  state.message = Message::kNone;
  // The WQE of a message under way is the oldest of those that are flushed, and so is one that packets have used in
  // part.
  if (qp.receive.striding.isOpen) {
    state.receive = qp.receive.striding.wqe;
    state.hasReceive = true;
  }
  if (state.hasReceive) failHeld(qp, CqeSyndrome::kWorkRequestFlushed, vendor_error::kFlushed);
  state.waitingForReceive = false;
  state.waitingForCache = false;
  state.waiting.clear();
  deferredAcks_.erase(qp.number.value());
}

void Responder::reset(QueuePair& qp) {
  ports_.responses.reset(qp);
  deferredAcks_.erase(qp.number.value());
  if (qp.responder.hasReceive && !qp.responder.tagged.tookTag()) ports_.receiveQueue.release(qp);
  qp.responder = ResponderState{};
}

}  // namespace hca::adapter

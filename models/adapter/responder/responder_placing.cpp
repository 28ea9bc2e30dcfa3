// Where the payload of messages goes: by remote keys, or into receive WQEs.
#include <algorithm>

#include "models/adapter/completion/inline_scatter.h"
#include "models/adapter/responder/global_route.h"
#include "models/adapter/responder/message_rules.h"
#include "models/adapter/responder/responder.h"
#include "models/adapter/transport/acknowledge.h"
#include "models/adapter/transport/vendor_errors.h"

namespace hca::adapter {

Responder::Outcome Responder::startWrite(QueuePair& qp, const network::Packet& packet) {
  ResponderState& state = qp.responder;
  segments_.clear();
  const bool checkOnly = !endsMessage(packet.operation);  // each packet looks up its own part
  const AccessRequest access{packet.remoteKey, remoteDomain(qp, packet), qp.number, packet.remoteAddress,
                             packet.dmaLength, Access::kRemoteWrite,     checkOnly};
  if (!qp.attributes.remoteWrite) return refuse(qp, packet, aeth::kNakRemoteAccess, EventType::kWqAccessError);
  const Translation translation = translate(access);
  if (translation.fault != AccessFault::kNone)
    return refuse(qp, packet, aeth::kNakRemoteAccess, EventType::kWqAccessError);
  state.writeRelaxed = translation.relaxedOrdering;
  state.message = ResponderState::Message::kWrite;
  state.received = 0;
  state.writeAddress = packet.remoteAddress;
  state.writeLength = packet.dmaLength;
  state.writeKey = packet.remoteKey;
  return Outcome::kDone;
}

Responder::Outcome Responder::placeByWrite(QueuePair& qp, const network::Packet& packet) {
  ResponderState& state = qp.responder;
  const std::uint64_t end = std::uint64_t{state.received} + packet.payloadLength;
  if (end > state.writeLength || (endsMessage(packet.operation) && end != state.writeLength)) {
    return refuse(qp, packet, aeth::kNakInvalidRequest, EventType::kWqInvalidRequest);
  }
  // An only packet's bytes are those that startWrite has just translated.
  const bool isTranslated = beginsMessage(packet.operation) && endsMessage(packet.operation);
  if (!isTranslated) {
    segments_.clear();
    const AccessRequest access{
        state.writeKey,       remoteDomain(qp, packet), qp.number, state.writeAddress + state.received,
        packet.payloadLength, Access::kRemoteWrite};
    const Translation translation = translate(access);
    if (translation.fault != AccessFault::kNone)
      return refuse(qp, packet, aeth::kNakRemoteAccess, EventType::kWqAccessError);
    state.writeRelaxed = translation.relaxedOrdering;
  }
  if (missed(qp)) return Outcome::kMissed;
  scatter(packet, packet.payload.view(), state.writeRelaxed);
  state.received += packet.payloadLength;
  return Outcome::kDone;
}

// Finds where bytes [received, received + payload) of the message belong in the receive WQE.
Responder::Outcome Responder::placeInReceive(QueuePair& qp, const network::Packet& packet) {
  ResponderState& state = qp.responder;
  if (state.tagged.kind == TaggedMessage::Kind::kTransfer) return Outcome::kDone;
  const std::uint32_t skipped = beginsMessage(packet.operation) ? state.tagged.skipped() : 0;
  const std::uint32_t length = packet.payloadLength - skipped;
  const std::uint32_t prefix = qp.attributes.striding.prefix();
  const std::uint64_t at = std::uint64_t{state.placeAt} + state.received;
  if (at + prefix + length > state.receive.capacity) {
    return failReceive(qp, packet, CqeSyndrome::kLocalLength, vendor_error::kLocalLength, aeth::kNakInvalidRequest);
  }
  bool relaxed = false;
  if (locate(qp, at, prefix + std::uint64_t{length}, relaxed) != AccessFault::kNone) {
    return failReceive(qp, packet, CqeSyndrome::kLocalProtection, vendor_error::kLocalProtection,
                       aeth::kNakRemoteOperation);
  }
  if (missed(qp)) return Outcome::kMissed;
  if (prefix != 0) {
    scatterShifted(packet, prefix, relaxed);
  } else if (!fitsEntry(qp, packet)) {
    const ByteView all = packet.payload.view();
    scatter(packet, all.empty() ? all : all.subview(skipped, all.size() - skipped), relaxed);
  }
  state.received += length;
  return Outcome::kDone;
}

// Whether the whole message goes into its completion (qpc.cs_res): a SEND of one packet. A datagram's entry has no
// room, because its sender's address is where the data would be; nor is it known of an XRC or tag-matching queue's
// completion queue.
bool Responder::fitsEntry(const QueuePair& qp, const network::Packet& packet) {
  const bool whole = isSend(packet.operation) && beginsMessage(packet.operation) && endsMessage(packet.operation);
  const bool hasRoom =
      !isDatagram(qp.attributes.service) && !qp.isXrc() && qp.responder.tagged.kind == TaggedMessage::Kind::kNone;
  return whole && hasRoom && packet.payloadLength != 0 &&
         packet.payloadLength <= responderInlineRoom(qp.attributes.responderInlineScatter);
}

// Fills segments_ with bytes [from, from + length) of the receive WQE's scatter list.
AccessFault Responder::locate(const QueuePair& qp, std::uint64_t from, std::uint64_t length, bool& relaxedOrdering) {
  segments_.clear();
  const ReceiveWqe& receive = qp.responder.receive;
  const PdNumber domain = ports_.receiveQueue.domainOf(qp);
  for (std::size_t i = 0; i < receive.segments.size() && length > 0; ++i) {
    const DataSegment& segment = receive.segments[i];
    if (from >= segment.length) {
      from -= segment.length;
      continue;
    }
    const std::uint64_t take = std::min<std::uint64_t>(segment.length - from, length);
    const AccessRequest access{segment.key, domain, qp.number, segment.address + from, take, Access::kLocalWrite};
    const Translation translation = translate(access);
    if (translation.fault != AccessFault::kNone) return translation.fault;
    relaxedOrdering = relaxedOrdering || translation.relaxedOrdering;
    length -= take;
    from = 0;
  }
  return AccessFault::kNone;
}

// The first 40 bytes of a datagram's buffer are for its global route header; without one they stay as they are.
bool Responder::placeGlobalRoute(QueuePair& qp, const network::Packet& packet) {
  ResponderState& state = qp.responder;
  if (state.receive.capacity < kGlobalRouteSize) {
    failReceive(qp, packet, CqeSyndrome::kLocalLength, vendor_error::kLocalLength, aeth::kNakInvalidRequest);
    return false;
  }
  bool relaxed = false;
  if (locate(qp, 0, kGlobalRouteSize, relaxed) != AccessFault::kNone) {
    failReceive(qp, packet, CqeSyndrome::kLocalProtection, vendor_error::kLocalProtection, aeth::kNakRemoteOperation);
    return false;
  }
  state.received = kGlobalRouteSize;
  if (!packet.route.globalRoute) return true;
  const std::array<std::uint8_t, kGlobalRouteSize> header = globalRouteHeader(packet);
  std::uint32_t offset = 0;
  for (const Segment& segment : segments_) {
    pcie::DmaWrite write;
    write.address = segment.address;
    write.length = segment.length;
    write.data = ByteView(header.data() + offset, segment.length);
    offset += segment.length;
    context_.dma.write(write);
  }
  return true;
}

// Writes the packet's payload to segments_, behind zeros.
void Responder::scatterShifted(const network::Packet& packet, std::uint32_t prefix, bool relaxedOrdering) {
  const ByteView payload = packet.payload.view();
  if (payload.empty()) return scatter(packet, payload, relaxedOrdering);
  kernel::Payload shifted = context_.pool.acquire(prefix + payload.size());
  std::uint8_t* const bytes = shifted.mutableView().data();
  std::fill_n(bytes, prefix, std::uint8_t{0});
  std::copy(payload.begin(), payload.end(), bytes + prefix);
  scatter(packet, shifted.view(), relaxedOrdering);
}

// Writes `data`, of the packet, to segments_.
void Responder::scatter(const network::Packet& packet, ByteView data, bool relaxedOrdering) {
  const bool moved = !data.empty();
  const bool observed = endsMessage(packet.operation) && context_.probes.stage.hasListeners();
  std::uint32_t offset = 0;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    pcie::DmaWrite write;
    write.address = segments_[i].address;
    write.length = segments_[i].length;
    if (moved) write.data = data.subview(offset, segments_[i].length);
    write.traffic = pcie::Traffic::kPayload;
    write.relaxedOrdering = relaxedOrdering;
    if (observed && i + 1 == segments_.size()) {
      write.notify = true;
      write.client = this;
      write.token = rememberPlacing(packet.request);
    }
    offset += segments_[i].length;
    context_.dma.write(write);
  }
}

std::uint64_t Responder::rememberPlacing(const observe::WorkRequestId& request) {
  if (freePlacing_.empty()) {
    placing_.push_back(request);
    return placing_.size() - 1;
  }
  const std::uint64_t slot = freePlacing_.back();
  freePlacing_.pop_back();
  placing_[slot] = request;
  return slot;
}

void Responder::onDmaWritten(std::uint64_t token, host::DmaStatus) {
  freePlacing_.push_back(token);
  context_.probes.stage.fire([&] {
    return observe::StageEvent{observe::Stage::kPayloadPlaced, context_.now(), placing_[token]};
  });
}

}  // namespace hca::adapter

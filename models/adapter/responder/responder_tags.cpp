// Messages to tag-matching queues: rdma-core Documentation/tag_matching.md.
#include <algorithm>

#include "models/adapter/responder/message_rules.h"
#include "models/adapter/responder/responder.h"
#include "models/adapter/transport/acknowledge.h"
#include "models/adapter/transport/vendor_errors.h"

namespace hca::adapter {

namespace {

wire::TagHeader headerOf(const network::Packet& packet) {
  // Where payload isn't moved there are no headers to look at.
  if (packet.payload.empty()) return {};
  return structFrom<wire::TagHeader>(packet.payload.view().subview(0, sizeof(wire::TagHeader)));
}

}  // namespace

// The first packet of a message. Runs again when the packet had to wait: a tag that it took stays taken. One that is
// too short for what it says to be is an invalid request.
Responder::Outcome Responder::beginTagged(QueuePair& qp, const network::Packet& packet) {
  if (qp.responder.hasReceive) return Outcome::kDone;
  using wire::TagMessage;
  if (packet.payloadLength < sizeof(wire::TagHeader)) {
    return refuse(qp, packet, aeth::kNakInvalidRequest, EventType::kWqInvalidRequest);
  }
  const wire::TagHeader header = headerOf(packet);
  const auto message = static_cast<TagMessage>(header.operation);
  const bool asks = message == TagMessage::kRendezvous;
  if (asks && (packet.payloadLength < wire::kRendezvousHeaders || !endsMessage(packet.operation))) {
    return refuse(qp, packet, aeth::kNakInvalidRequest, EventType::kWqInvalidRequest);
  }
  // A finish message is for the software that began the rendezvous: it comes like one without a tag (UCX
  // src/uct/ib/mlx5/rc/rc_mlx5.inl).
  if (!asks && message != TagMessage::kEager) return takeUntagged(qp, packet, TaggedMessage::Kind::kUntagged);
  const auto match = ports_.tags.take(qp, header.tag.host());
  if (!match) return takeUntagged(qp, packet, TaggedMessage::Kind::kUnexpected);
  TaggedMessage& tagged = qp.responder.tagged;
  tagged = {};
  tagged.place = match->place;
  const ByteView bytes = bytesOf(header);
  std::copy(bytes.begin(), bytes.end(), tagged.header.begin());
  return asks ? beginTransfer(qp, packet, *match) : takeTag(qp, packet, *match);
}

// Counts as unexpected when it has an entry to go to: until then a tag may still come.
Responder::Outcome Responder::takeUntagged(QueuePair& qp, const network::Packet& packet, TaggedMessage::Kind kind) {
  const Outcome taken = takeReceive(qp, packet);
  if (taken != Outcome::kDone) return taken;
  qp.responder.tagged.kind = kind;
  if (kind == TaggedMessage::Kind::kUnexpected) ports_.tags.countUnexpected(qp);
  return Outcome::kDone;
}

Responder::Outcome Responder::takeTag(QueuePair& qp, const network::Packet& packet, const TagList::Match& match) {
  ResponderState& state = qp.responder;
  state.tagged.kind = TaggedMessage::Kind::kMatched;
  state.hasReceive = true;
  state.receive = {};
  state.receive.index = match.serial;
  state.receive.counter = match.place;
  if (match.buffer.length != 0) state.receive.segments.push(match.buffer);
  state.receive.capacity = match.buffer.length;
  if (endsMessage(packet.operation)) return Outcome::kDone;
  // The match is told at once, in order with other matches; the data are told when they are there.
  ports_.tags.reportConsumed(qp, match.place, ByteView(state.tagged.header.data(), state.tagged.header.size()));
  state.tagged.isReported = true;
  return Outcome::kDone;
}

// The adapter fetches the data if it may and if they fit; if not, software gets the headers in the tag's buffer.
Responder::Outcome Responder::beginTransfer(QueuePair& qp, const network::Packet& packet, const TagList::Match& match) {
  const ByteView headers = packet.payload.view().subview(0, wire::kRendezvousHeaders);
  const auto where =
      structFrom<wire::RendezvousHeader>(headers.subview(sizeof(wire::TagHeader), sizeof(wire::RendezvousHeader)));
  TaggedMessage& tagged = qp.responder.tagged;
  if (!ports_.tags.transfers(qp) || where.length.host() > match.buffer.length) {
    tagged.isSoftwareRendezvous = true;
    return takeTag(qp, packet, match);
  }
  tagged.kind = TaggedMessage::Kind::kTransfer;
  ports_.tags.reportConsumed(qp, match.place, ByteView(tagged.header.data(), tagged.header.size()));
  ports_.tags.startTransfer(qp, match, headers);
  return Outcome::kDone;
}

void Responder::describeTagged(const QueuePair& qp, CompletionRecord& record) const {
  using wire::TagCompletion;
  const TaggedMessage& tagged = qp.responder.tagged;
  record.tag.emplace();
  switch (tagged.kind) {
    case TaggedMessage::Kind::kUnexpected:
      record.tag->operation = TagCompletion::kUnexpected;
      return;
    case TaggedMessage::Kind::kMatched:
      break;
    default:
      record.tag->operation = TagCompletion::kNoTag;
      return;
  }
  record.tag->place = tagged.place;
  record.request.queue = observe::WorkQueue::kTag;
  if (tagged.isReported) {
    record.tag->operation = TagCompletion::kExpected;
    return;
  }
  record.tag->operation =
      tagged.isSoftwareRendezvous ? TagCompletion::kConsumedMessageSoftware : TagCompletion::kConsumedMessage;
  record.tag->setFront(ByteView(tagged.header.data(), tagged.header.size()));
}

}  // namespace hca::adapter

// Targets of dynamic connections, and what they keep of each initiator.
#include "models/adapter/responder/responder.h"
#include "models/adapter/transport/psn.h"
#include "models/adapter/transport/qp_table.h"

namespace hca::adapter {
namespace {

constexpr std::uint8_t kLogContextReads = 4;  // atomics whose results are kept for duplicates

DynamicPeer peerOf(const QueuePair& target, const network::Packet& packet) {
  DynamicPeer peer{target.number, packet.sourceQp, packet.route.sourceLid};
  if (packet.route.linkLayer == network::LinkLayer::kRoceV2) peer.gid = packet.route.sourceGid;
  return peer;
}

/// The way back to where `packet` came from.
AddressPath wayBack(const QpAttributes& target, const network::Packet& packet) {
  const network::Route& from = packet.route;
  AddressPath path;
  path.port = target.path.port;
  path.partitionIndex = target.path.partitionIndex;
  path.remoteLid = from.sourceLid;
  path.serviceLevel = from.serviceLevel;
  path.globalRoute = from.globalRoute;
  path.remoteGid = from.sourceGid;
  path.remoteMac = from.sourceMac;
  path.sourceGidIndex = target.path.sourceGidIndex;
  path.hopLimit = target.path.hopLimit;
  path.trafficClass = target.path.trafficClass;
  path.flowLabel = target.path.flowLabel;
  return path;
}

}  // namespace

QueuePair* QpTable::contextOf(QueuePair& target, const network::Packet& packet) {
  const DynamicPeer peer = peerOf(target, packet);
  if (packet.operation == network::Operation::kConnect) return connectPeer(target, peer, packet);
  const auto at = peers_.find(peer);
  QueuePair* context = at == peers_.end() ? nullptr : find(at->second);
  if (context == nullptr || context->attributes.connection != packet.connection) return nullptr;
  if (packet.operation != network::Operation::kDisconnect) return context->mayReceive() ? context : nullptr;
  remove(*context);
  peers_.erase(at);
  return nullptr;
}

// Makes a context, or makes the initiator's present one new. A duplicate of its request changes nothing. Who doesn't
// know the key is refused, and software hears of it.
QueuePair* QpTable::connectPeer(QueuePair& target, const DynamicPeer& peer, const network::Packet& packet) {
  const auto at = peers_.find(peer);
  QueuePair* context = at == peers_.end() ? nullptr : find(at->second);
  if (context != nullptr && context->attributes.connection == packet.connection) return nullptr;
  if (context == nullptr && static_cast<std::int64_t>(alive_) >= config_.maxQps) return nullptr;
  if (context != nullptr) remove(*context);
  QpAttributes attributes = target.attributes;
  attributes.service = QpService::kDcResponder;
  attributes.state = QpState::kReadyToSend;
  attributes.target = target.number;
  attributes.remoteQp = packet.sourceQp;
  attributes.connection = packet.connection;
  attributes.path = wayBack(target.attributes, packet);
  attributes.logMaxResponderReads = kLogContextReads;
  context = &place(attributes);
  context->responder.expectedPsn = packet.psn & kPsnMask;
  peers_[peer] = context->number;
  if (packet.accessKey != target.attributes.accessKey) stages_->responder.refuseConnection(*context, packet.psn);
  return nullptr;
}

void QpTable::disconnectPeers(QpNumber target) {
  for (auto at = peers_.begin(); at != peers_.end();) {
    if (at->first.target != target) {
      ++at;
      continue;
    }
    if (QueuePair* context = find(at->second)) remove(*context);
    at = peers_.erase(at);
  }
}

// The others of its target go on. The initiator is in error, too, and connects anew when it works again.
void QpTable::failContext(QueuePair& context, EventType event) {
  if (context.inError()) return;
  context.attributes.state = QpState::kError;
  stages_->responder.stop(context);
  const QueuePair* target = find(context.attributes.target);
  if (target != nullptr && event != EventType::kCompletion) raise(event, *target);
}

CommandResult QpTable::drainTarget(QpNumber number) {
  QueuePair* target = find(number);
  if (target == nullptr || target->attributes.service != QpService::kDct) {
    return {CommandStatus::kBadResource, Syndrome::kUnknownDct};
  }
  target->attributes.state = QpState::kError;  // nobody reaches it any more
  disconnectPeers(number);
  completionQueues_.whenWritten(number, [this, number] {
    const QueuePair* present = find(number);
    if (present != nullptr) raise(EventType::kDctDrained, *present);
  });
  return {};
}

}  // namespace hca::adapter

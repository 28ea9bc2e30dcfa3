#include "models/adapter/transport/packet_dispatcher.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "models/adapter/requester/requester.h"
#include "models/adapter/requester/send_operation.h"
#include "models/adapter/responder/message_rules.h"
#include "models/adapter/responder/responder.h"
#include "models/adapter/transport/special_queue_pairs.h"
#include "models/network/crc.h"
#include "models/network/packet_layout.h"
#include "models/network/partition_keys.h"

namespace hca::adapter {

PacketDispatcher::PacketDispatcher(const Ports& ports) : ports_(ports) {
  for (std::size_t i = 1; i <= ports_.routes.ports(); ++i) entries_.emplace_back(*this, static_cast<std::uint8_t>(i));
}

void PacketDispatcher::take(Entry& entry, network::Packet& packet) {
  if (packet.corrupted) {
    ++drops_.corrupted;
    return;
  }
  if (packet.service == network::Service::kRaw) return steer(entry, packet);
  if (network::isMulticast(packet.route)) return spread(entry, packet);
  deliver(entry, packet);
}

// The rules of the port decide whose an Ethernet frame is. What came back to the sender's port is for those alone that
// want it.
void PacketDispatcher::steer(Entry& entry, network::Packet& packet) {
  const network::EthernetFrame frame = network::readFrame(packet.payload.view());
  const TransportDomainNumber sender(packet.transportDomain);
  steered_.clear();
  ports_.steering.forEach(frame, entry.number, [&](const FlowRule& rule) {
    for (const auto& target : rule.targets) {
      if (!packet.looped || target->takesLooped(frame, sender)) steered_.push_back({target, rule.flowTag});
    }
  });
  if (steered_.empty()) {
    ++drops_.noFlowRule;
    return;
  }
  for (std::size_t i = 0; i + 1 < steered_.size(); ++i) {
    network::Packet copy = packet.clone();
    receive(entry, frame, steered_[i], copy);
  }
  receive(entry, frame, steered_.back(), packet);
}

// A tag leaves the frame here if the queue wants that; or the frame check sequence comes back that the port took off.
void PacketDispatcher::receive(Entry& entry, const network::EthernetFrame& frame, const Steered& to,
                               network::Packet& packet) {
  const ReceiveHash::Result hash = to.target->hash.of(frame);
  packet.destinationQp = to.target->queueFor(hash.value);
  packet.flowTag = to.flowTag;
  packet.rssHash = hash.value;
  packet.rssHashType = hash.type;
  const QueuePair* qp = ports_.queuePairs.find(packet.destinationQp);
  if (qp != nullptr && frame.tagged && qp->attributes.stripVlan) {
    constexpr std::size_t kPlace = 12;  // behind the addresses
    const MutableByteView bytes = packet.payload.mutableView();
    packet.hadVlanTag = true;
    packet.vlanTag = frame.tag;
    packet.payloadLength -= network::EthernetFrame::kTagSize;
    std::memmove(bytes.data() + kPlace, bytes.data() + kPlace + network::EthernetFrame::kTagSize,
                 packet.payloadLength - kPlace);
  }
  if (qp != nullptr && qp->attributes.scatterFcs) appendFcs(packet);
  deliver(entry, packet);
}

// IEEE 802.3, 3.2.9: of the frame as it is in memory, so that software which checks it finds it right.
void PacketDispatcher::appendFcs(network::Packet& packet) {
  network::InvariantCrc fcs;
  const ByteView frame = packet.payload.view().subview(0, packet.payloadLength);
  fcs.add(frame);
  std::vector<std::uint8_t> whole(frame.begin(), frame.end());
  for (unsigned shift = 0; shift < 32; shift += 8) whole.push_back(static_cast<std::uint8_t>(fcs.value() >> shift));
  packet.payload = ports_.pool.copyOf({whole.data(), whole.size()});
  packet.payloadLength = static_cast<std::uint32_t>(whole.size());
}

// A copy for every member of this port, whoever sent it (InfiniBand volume 1, 10.5), but for senders that want none of
// their own. Such packets always have a global
// route.
void PacketDispatcher::spread(Entry& entry, network::Packet& packet) {
  const bool legal = packet.route.globalRoute && packet.destinationQp == network::kMulticastQp;
  const std::vector<QpNumber>* members = legal ? ports_.groups.members(packet.route.destinationGid) : nullptr;
  bool hasMember = false;
  for (std::size_t i = 0; members != nullptr && i < members->size(); ++i) {
    const QueuePair* qp = ports_.queuePairs.find((*members)[i]);
    if (qp != nullptr && qp->attributes.path.port != entry.number) continue;
    hasMember = true;
    const bool isOwn = packet.looped && packet.sourceQp == (*members)[i];
    if (isOwn && qp != nullptr && qp->attributes.blockMulticastLoopback) continue;
    network::Packet copy = packet.clone();
    copy.destinationQp = (*members)[i];
    deliver(entry, copy);
  }
  if (!hasMember) ++drops_.notMember;
}

void PacketDispatcher::deliver(Entry& entry, network::Packet& packet) {
  if (SpecialQueuePairs::isSpecial(packet.destinationQp)) {
    packet.destinationQp = ports_.queuePairs.specialOf(entry.number, packet.destinationQp);
  }
  QueuePair* qp = ports_.queuePairs.find(packet.destinationQp);
  if (qp == nullptr) {
    ++drops_.unknownQp;
    return;
  }
  if (ports_.cache.isLimited()) return hold(entry, packet);
  ports_.cache.access(CachedObject::kQpContext, qp->number.value());
  dispatch(entry, packet);
}

// Goes on at once if the context is there. One that is being fetched holds up the later packets of its queue pair too.
void PacketDispatcher::hold(Entry& entry, network::Packet& packet) {
  if (freeHeld_.empty()) {
    freeHeld_.push_back(held_.size());
    held_.emplace_back();
  }
  const std::uint64_t slot = freeHeld_.back();
  freeHeld_.pop_back();
  const std::uint32_t qp = packet.destinationQp.value();
  held_[slot] = {&entry, std::move(packet)};
  if (!ports_.cache.misses(CachedObject::kQpContext, qp, *this, slot)) onCacheReady(slot);
}

void PacketDispatcher::onCacheReady(std::uint64_t token) {
  Held held = std::move(held_[token]);
  freeHeld_.push_back(token);
  dispatch(*held.entry, held.packet);
}

// Subnet management has no partition and general services those of the whole port (InfiniBand volume 1, 10.9).
bool PacketDispatcher::isOfPartition(const Entry& entry, const QueuePair& qp, const network::Packet& packet) const {
  if (qp.attributes.service == QpService::kRaw || qp.attributes.service == QpService::kQp0) return true;
  if (qp.attributes.service != QpService::kQp1) {
    return network::partitionsMatch(packet.partitionKey, ports_.routes.partitionKey(qp.attributes.path));
  }
  const std::vector<std::uint16_t>& keys = ports_.routes.port(entry.number).partitionKeys;
  return std::any_of(keys.begin(), keys.end(),
                     [&](std::uint16_t key) { return network::partitionsMatch(packet.partitionKey, key); });
}

void PacketDispatcher::dispatch(Entry& entry, network::Packet& packet) {
  QueuePair* qp = ports_.queuePairs.find(packet.destinationQp);
  if (qp == nullptr) {
    ++drops_.unknownQp;
  } else if (!isReachable(qp->attributes.service) || packet.service != networkService(qp->attributes.service)) {
    ++drops_.wrongService;
  } else if (qp->attributes.migration != MigrationState::kMigrated &&
             !ports_.connections.takesPath(*qp, packet, entry.number)) {
    ++drops_.wrongPath;
  } else if (qp->attributes.path.port != entry.number) {
    ++drops_.wrongPort;
  } else if (!isOfPartition(entry, *qp, packet)) {
    ++drops_.wrongPartition;
    entry.violations.countPartition();
  } else if (!qp->mayReceive()) {
    ++drops_.wrongState;
  } else if (packet.service == network::Service::kUd && packet.queueKey != qp->attributes.queueKey) {
    ++drops_.wrongQueueKey;
    entry.violations.countQueueKey();
  } else if (qp->attributes.service == QpService::kDct) {
    QueuePair* context = isResponse(packet.operation) ? nullptr : ports_.targets.contextOf(*qp, packet);
    if (context != nullptr) ports_.responder.onRequest(*context, packet);
  } else if (isResponse(packet.operation)) {
    ports_.requester.onResponse(*qp, packet);
  } else {
    ports_.responder.onRequest(*qp, packet);
  }
}

}  // namespace hca::adapter

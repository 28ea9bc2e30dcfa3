#include "models/adapter/transport/packet_dispatcher.h"

#include "models/adapter/requester/requester.h"
#include "models/adapter/requester/send_operation.h"
#include "models/adapter/responder/message_rules.h"
#include "models/adapter/responder/responder.h"
#include "models/network/packet_layout.h"

namespace hca::adapter {

PacketDispatcher::PacketDispatcher(kernel::Calendar& calendar, const Ports& ports, std::uint16_t partitionKey)
    : calendar_(calendar),
      ports_(ports),
      partitionKey_(partitionKey),
      delayed_(calendar, kernel::Priority::kAdapter, *this, &PacketDispatcher::dispatch) {}

// InfiniBand volume 1, 10.9.3: equal in the low 15 bits, and not both limited members (bit 15 clear).
bool PacketDispatcher::partitionMatches(std::uint16_t key) const {
  constexpr std::uint16_t kBase = 0x7FFF;
  constexpr std::uint16_t kFullMember = 0x8000;
  return (key & kBase) == (partitionKey_ & kBase) && ((key | partitionKey_) & kFullMember) != 0;
}

void PacketDispatcher::onPacket(network::Packet& packet) {
  if (packet.corrupted) {
    ++drops_.corrupted;
    return;
  }
  if (network::isMulticast(packet.route)) return spread(packet);
  deliver(packet);
}

// A copy for every member, whoever sent it (InfiniBand volume 1, 10.5). Such packets always have a global route.
void PacketDispatcher::spread(network::Packet& packet) {
  const bool legal = packet.route.globalRoute && packet.destinationQp == network::kMulticastQp;
  const std::vector<QpNumber>* members = legal ? ports_.groups.members(packet.route.destinationGid) : nullptr;
  if (members == nullptr) {
    ++drops_.notMember;
    return;
  }
  for (const QpNumber member : *members) {
    network::Packet copy = packet.clone();
    copy.destinationQp = member;
    deliver(copy);
  }
}

void PacketDispatcher::deliver(network::Packet& packet) {
  QueuePair* qp = ports_.queuePairs.find(packet.destinationQp);
  if (qp == nullptr) {
    ++drops_.unknownQp;
    return;
  }
  // A packet whose context is still being fetched holds up the later ones of its queue pair.
  const Time wait = ports_.cache.access(CachedObject::kQpContext, qp->number.value());
  qp->contextReadyAt = later(qp->contextReadyAt, calendar_.now() + wait);
  if (qp->contextReadyAt > calendar_.now()) return delayed_.send(qp->contextReadyAt, std::move(packet));
  dispatch(packet);
}

void PacketDispatcher::dispatch(network::Packet& packet) {
  QueuePair* qp = ports_.queuePairs.find(packet.destinationQp);
  if (qp == nullptr) {
    ++drops_.unknownQp;
  } else if (packet.service != networkService(qp->attributes.service)) {
    ++drops_.wrongService;
  } else if (!partitionMatches(packet.partitionKey)) {
    ++drops_.wrongPartition;
  } else if (!qp->mayReceive()) {
    ++drops_.wrongState;
  } else if (packet.service == network::Service::kUd && packet.queueKey != qp->attributes.queueKey) {
    ++drops_.wrongQueueKey;
  } else if (isResponse(packet.operation)) {
    ports_.requester.onResponse(*qp, packet);
  } else {
    ports_.responder.onRequest(*qp, packet);
  }
}

}  // namespace hca::adapter

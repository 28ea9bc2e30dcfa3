#include "models/adapter/transport/packet_dispatcher.h"

#include "models/adapter/requester/requester.h"
#include "models/adapter/responder/message_rules.h"
#include "models/adapter/responder/responder.h"

namespace hca::adapter {

PacketDispatcher::PacketDispatcher(QpLookup& queuePairs, Requester& requester, Responder& responder,
                                   std::uint16_t partitionKey)
    : queuePairs_(queuePairs), requester_(requester), responder_(responder), partitionKey_(partitionKey) {}

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
  QueuePair* qp = queuePairs_.find(packet.destinationQp);
  if (qp == nullptr) {
    ++drops_.unknownQp;
  } else if (packet.service != network::Service::kRc || qp->attributes.service != QpService::kRc) {
    ++drops_.wrongService;
  } else if (!partitionMatches(packet.partitionKey)) {
    ++drops_.wrongPartition;
  } else if (!qp->mayReceive()) {
    ++drops_.wrongState;
  } else if (isResponse(packet.operation)) {
    requester_.onResponse(*qp, packet);
  } else {
    responder_.onRequest(*qp, packet);
  }
}

}  // namespace hca::adapter

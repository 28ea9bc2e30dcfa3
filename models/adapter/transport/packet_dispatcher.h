// From the port to the queue pair that a packet is for.
#pragma once

#include <cstdint>

#include "models/adapter/memory/cache_port.h"
#include "models/adapter/transport/multicast_groups.h"
#include "models/adapter/transport/qp_lookup.h"
#include "models/kernel/inbox.h"
#include "models/network/packet_receiver.h"

namespace hca::adapter {

class Requester;
class Responder;

/// Checks an arriving packet's headers and hands it to requester or responder. What fails a check is dropped silently,
/// as InfiniBand volume 1, 9.6.1 asks, and counted by reason.
class PacketDispatcher final : public network::PacketReceiver {
 public:
  struct Drops {
    std::uint64_t corrupted = 0;  ///< CRC
    std::uint64_t unknownQp = 0;
    std::uint64_t wrongService = 0;    ///< the queue pair is of another kind
    std::uint64_t wrongState = 0;      ///< the queue pair may not receive
    std::uint64_t wrongPartition = 0;  ///< partition keys don't match
    std::uint64_t wrongQueueKey = 0;   ///< of a datagram
    std::uint64_t notMember = 0;       ///< multicast, and no queue pair here belongs to the group
  };

  struct Ports {
    QpLookup& queuePairs;
    Requester& requester;
    Responder& responder;
    CachePort& cache;
    const MulticastGroups& groups;
  };
  PacketDispatcher(kernel::Calendar& calendar, const Ports& ports, std::uint16_t partitionKey);

  void onPacket(network::Packet& packet) override;
  [[nodiscard]] const Drops& drops() const { return drops_; }

 private:
  [[nodiscard]] bool partitionMatches(std::uint16_t key) const;
  void spread(network::Packet& packet);
  void deliver(network::Packet& packet);
  void dispatch(network::Packet& packet);

  kernel::Calendar& calendar_;
  Ports ports_;
  std::uint16_t partitionKey_;
  kernel::Inbox<PacketDispatcher, network::Packet> delayed_;  // wait for their queue pair's context
  Drops drops_;
};

}  // namespace hca::adapter

// From the port to the queue pair that a packet is for.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "models/adapter/memory/cache_port.h"
#include "models/adapter/transport/dynamic_targets.h"
#include "models/adapter/transport/flow_steering.h"
#include "models/adapter/transport/multicast_groups.h"
#include "models/adapter/transport/port_violations.h"
#include "models/adapter/transport/qp_lookup.h"
#include "models/adapter/transport/route_builder.h"
#include "models/kernel/payload_pool.h"
#include "models/network/packet_receiver.h"

namespace hca::adapter {

class Requester;
class Responder;

/// Checks an arriving packet's headers and hands it to requester or responder. What fails a check is dropped silently,
/// as InfiniBand volume 1, 9.6.1 asks, and counted by reason.
class PacketDispatcher final : private CacheClient {
 public:
  struct Drops {
    std::uint64_t corrupted = 0;  ///< CRC
    std::uint64_t unknownQp = 0;
    std::uint64_t wrongService = 0;    ///< the queue pair is of another kind
    std::uint64_t wrongPort = 0;       ///< the queue pair is of another port
    std::uint64_t wrongState = 0;      ///< the queue pair may not receive
    std::uint64_t wrongPath = 0;       ///< of a peer that migrated to a path that is none of the connection's
    std::uint64_t wrongPartition = 0;  ///< partition keys don't match
    std::uint64_t wrongQueueKey = 0;   ///< of a datagram
    std::uint64_t noFlowRule = 0;      ///< a raw packet that no rule wants
    std::uint64_t notMember = 0;       ///< multicast, and no queue pair here belongs to the group
  };

  struct Ports {
    QpLookup& queuePairs;
    Requester& requester;
    Responder& responder;
    CachePort& cache;
    const MulticastGroups& groups;
    const FlowSteering& steering;
    DynamicTargets& targets;
    kernel::PayloadPool& pool;
    const RouteBuilder& routes;
    QpEventSink& connections;
  };
  explicit PacketDispatcher(const Ports& ports);

  /// Takes what arrives at port `number`, counted from 1.
  [[nodiscard]] network::PacketReceiver& port(std::uint8_t number) { return entries_[number - 1U]; }
  [[nodiscard]] const Drops& drops() const { return drops_; }
  /// Of port `number`.
  [[nodiscard]] const PortViolations& violations(std::uint8_t number) const { return entries_[number - 1U].violations; }

 private:
  /// Where one port's packets come in.
  struct Entry final : network::PacketReceiver {
    Entry(PacketDispatcher& dispatcher, std::uint8_t port) : owner(dispatcher), number(port) {}
    void onPacket(network::Packet& packet) override { owner.take(*this, packet); }
    void expect(const network::Packet& packet) override { owner.ports_.queuePairs.expect(packet.destinationQp); }

    PacketDispatcher& owner;
    std::uint8_t number;
    PortViolations violations;
  };
  struct Held {
    Entry* entry = nullptr;
    network::Packet packet;
  };
  void take(Entry& entry, network::Packet& packet);
  struct Steered {
    std::shared_ptr<const FlowTarget> target;
    std::uint32_t flowTag = 0;
  };
  void steer(Entry& entry, network::Packet& packet);
  void receive(Entry& entry, const network::EthernetFrame& frame, const Steered& to, network::Packet& packet);
  void appendFcs(network::Packet& packet);
  void spread(Entry& entry, network::Packet& packet);
  void deliver(Entry& entry, network::Packet& packet);
  [[nodiscard]] bool isOfPartition(const Entry& entry, const QueuePair& qp, const network::Packet& packet) const;
  void dispatch(Entry& entry, network::Packet& packet);
  void hold(Entry& entry, network::Packet& packet);
  void onCacheReady(std::uint64_t token) override;

  Ports ports_;
  std::deque<Entry> entries_;  // by port - 1
  std::vector<Held> held_;     // wait for their queue pair's context
  std::vector<std::uint64_t> freeHeld_;
  std::vector<Steered> steered_;  // of the frame at hand
  Drops drops_;
};

}  // namespace hca::adapter

// From bus segments to packets on the wire, in order.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "models/adapter/adapter_context.h"
#include "models/adapter/memory/cache_port.h"
#include "models/adapter/memory/translator.h"
#include "models/adapter/transport/datapath_config.h"
#include "models/adapter/transport/egress_buffer.h"
#include "models/adapter/transport/egress_queue.h"
#include "models/adapter/transport/flow_steering.h"
#include "models/adapter/transport/loopback.h"
#include "models/adapter/transport/multicast_groups.h"
#include "models/adapter/transport/queue_pair.h"
#include "models/adapter/transport/route_builder.h"
#include "models/network/packet_receiver.h"

namespace hca::adapter {

/// Told when packets it handed over have left.
class EgressListener {
 public:
  /// The packet `psn` was given to the port; its last bit leaves at `lastBit`.
  virtual void onPacketSent(QueuePair& qp, std::uint32_t psn, bool ackRequest, Time lastBit) = 0;
  /// The payload of packet `psn` could not be read; it and what is queued behind it will not be sent.
  virtual void onPayloadUnreadable(QueuePair& qp, std::uint32_t psn) = 0;

 protected:
  ~EgressListener() = default;
};

/// Gathers the payload of packets by DMA and puts them on the wire of the queue pair's port, each queue pair's in
/// order. The bytes that may be under way to a port are bounded; whoever finds no room is called back.
class EgressPipeline final : private pcie::DmaClient, private CacheClient {
 public:
  EgressPipeline(const AdapterContext& context, const DatapathConfig& config, const RouteBuilder& routes,
                 bool movePayload, CachePort& cache);

  /// Adds the next port, from 1 on: its wire, and where goes what is for the port itself, with a copy of what is for
  /// one of the groups.
  void addPort(network::PacketSender& wire, Loopback& loopback);
  void connect(const MulticastGroups& groups, const FlowSteering& steering) {
    groups_ = &groups;
    steering_ = &steering;
  }

  /// Whether another full packet fits. If not, `waiter.onEgressRoom` follows once.
  [[nodiscard]] bool hasRoom(std::uint8_t port, EgressRoomListener& waiter) {
    return ports_[port - 1U]->buffer.hasRoom(waiter);
  }

  /// Queues `packet`. Its payload is read from `segments` (their lengths add up to packet.payloadLength), or is in the
  /// packet already when `segments` is empty. `listener` may be nullptr. The packet waits for what the sender's last
  /// accesses to the cache missed.
  void send(QueuePair& qp, EgressQueue& queue, network::Packet&& packet, const std::vector<Segment>& segments,
            EgressListener* listener);

  /// Forgets every packet of `queue` that has not left yet.
  void cancel(EgressQueue& queue);

 private:
  struct Port {
    Port(std::uint8_t place, kernel::Calendar& calendar, Bytes size, network::PacketSender& sender, Loopback& back)
        : number(place), buffer(calendar, size), wire(sender), loopback(back) {}
    std::uint8_t number;
    EgressBuffer buffer;
    network::PacketSender& wire;
    Loopback& loopback;
  };
  struct Slot {
    network::Packet packet;
    std::uint8_t port = 1;
    QueuePair* qp = nullptr;
    EgressQueue* queue = nullptr;  // nullptr: cancelled, waits for its reads only
    EgressListener* listener = nullptr;
    std::uint32_t next = EgressQueue::kNone;
    std::uint32_t readsPending = 0;
    bool faulted = false;
    std::vector<std::uint32_t> offsets;  // of each read within the payload
  };

  void onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) override;
  void onDmaWritten(std::uint64_t, host::DmaStatus) override {}
  std::uint32_t allocate();
  void onCacheReady(std::uint64_t token) override;
  void gather(std::uint32_t index, const std::vector<Segment>& segments);
  void drain(EgressQueue& queue);
  void transmit(network::Packet&& packet, Port& port, QueuePair& qp, EgressListener* listener);
  Time route(network::Packet&& packet, Port& port);
  Time routeRaw(network::Packet&& packet, Port& port);
  void free(std::uint32_t index);
  [[nodiscard]] Port& portOf(const Slot& slot) { return *ports_[slot.port - 1U]; }
  [[nodiscard]] Port& portOf(const QueuePair& qp) { return *ports_[qp.attributes.path.port - 1U]; }

  AdapterContext context_;
  const DatapathConfig& config_;
  const RouteBuilder& routes_;
  bool movePayload_;
  CachePort& cache_;
  std::vector<std::unique_ptr<Port>> ports_;
  const MulticastGroups* groups_ = nullptr;
  const FlowSteering* steering_ = nullptr;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> freeSlots_;
  std::unordered_map<std::uint32_t, std::vector<Segment>> untranslated_;  // by slot: wait for the cache
};

}  // namespace hca::adapter

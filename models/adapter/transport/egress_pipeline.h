// From bus segments to packets on the wire, in order.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "models/adapter/adapter_context.h"
#include "models/adapter/memory/cache_port.h"
#include "models/adapter/memory/translator.h"
#include "models/adapter/transport/datapath_config.h"
#include "models/adapter/transport/egress_queue.h"
#include "models/adapter/transport/loopback.h"
#include "models/adapter/transport/multicast_groups.h"
#include "models/adapter/transport/queue_pair.h"
#include "models/adapter/transport/route_builder.h"
#include "models/kernel/ring_queue.h"
#include "models/kernel/timer.h"
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

/// Told that a packet fits again after it did not.
class EgressRoomListener {
 public:
  virtual void onEgressRoom() = 0;

 protected:
  ~EgressRoomListener() = default;
};

/// Gathers the payload of packets by DMA and puts them on the wire, each queue pair's in order. The bytes that may be
/// under way are bounded; whoever finds no room is called back.
class EgressPipeline final : private pcie::DmaClient, private CacheClient {
 public:
  EgressPipeline(const AdapterContext& context, const DatapathConfig& config, const RouteBuilder& routes,
                 bool movePayload, CachePort& cache);

  /// What is for the port itself goes into `loopback`, and so does a copy of what is for one of `groups`.
  void connect(network::PacketSender& port, Loopback& loopback, const MulticastGroups& groups) {
    port_ = &port;
    loopback_ = &loopback;
    groups_ = &groups;
  }

  /// Whether another full packet fits. If not, `waiter.onEgressRoom` follows once.
  [[nodiscard]] bool hasRoom(EgressRoomListener& waiter);

  /// Queues `packet`. Its payload is read from `segments` (their lengths add up to packet.payloadLength), or is in the
  /// packet already when `segments` is empty. `listener` may be nullptr. The packet waits for what the sender's last
  /// accesses to the cache missed.
  void send(QueuePair& qp, EgressQueue& queue, network::Packet&& packet, const std::vector<Segment>& segments,
            EgressListener* listener);

  /// Forgets every packet of `queue` that has not left yet.
  void cancel(EgressQueue& queue);

 private:
  struct Slot {
    network::Packet packet;
    QueuePair* qp = nullptr;
    EgressQueue* queue = nullptr;  // nullptr: cancelled, waits for its reads only
    EgressListener* listener = nullptr;
    std::uint32_t next = EgressQueue::kNone;
    std::uint32_t readsPending = 0;
    bool faulted = false;
    std::vector<std::uint32_t> offsets;  // of each read within the payload
  };
  struct Release {
    Time when;
    std::uint32_t bytes;
  };

  void onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) override;
  void onDmaWritten(std::uint64_t, host::DmaStatus) override {}
  void onRoomTimer();
  std::uint32_t allocate();
  void onCacheReady(std::uint64_t token) override;
  void gather(std::uint32_t index, const std::vector<Segment>& segments);
  void drain(EgressQueue& queue);
  void transmit(network::Packet&& packet, QueuePair& qp, EgressListener* listener);
  Time route(network::Packet&& packet);
  void free(std::uint32_t index);
  void releaseLeft();

  AdapterContext context_;
  const DatapathConfig& config_;
  const RouteBuilder& routes_;
  bool movePayload_;
  CachePort& cache_;
  network::PacketSender* port_ = nullptr;
  Loopback* loopback_ = nullptr;
  const MulticastGroups* groups_ = nullptr;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> freeSlots_;
  std::unordered_map<std::uint32_t, std::vector<Segment>> untranslated_;  // by slot: wait for the cache
  kernel::RingQueue<Release> releases_;       // packets given to the port whose last bit has not left
  std::int64_t reserved_ = 0;                 // bytes under way
  std::vector<EgressRoomListener*> blocked_;  // in the order in which they asked
  std::vector<EgressRoomListener*> woken_;    // those whom `onRoomTimer` calls
  kernel::Timer<EgressPipeline> roomTimer_;
};

}  // namespace hca::adapter

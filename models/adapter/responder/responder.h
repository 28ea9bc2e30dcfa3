// Executes the requests of the peer.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "models/adapter/adapter_context.h"
#include "models/adapter/completion/completion_port.h"
#include "models/adapter/event/event_port.h"
#include "models/adapter/memory/cache_port.h"
#include "models/adapter/memory/memory_key_port.h"
#include "models/adapter/memory/translator.h"
#include "models/adapter/receive_queue/receive_queue_engine.h"
#include "models/adapter/receive_queue/tag_matching_unit.h"
#include "models/adapter/responder/atomic_unit.h"
#include "models/adapter/responder/response_engine.h"
#include "models/adapter/transport/datapath_config.h"
#include "models/adapter/transport/qp_lookup.h"
#include "models/adapter/transport/route_builder.h"
#include "models/kernel/keyed_timers.h"
#include "models/network/packet.h"

namespace hca::adapter {

/// The responder of all transport services: checks sequence and rights, places payload, consumes receive WQEs,
/// completes, acknowledges. InfiniBand volume 1, 9.7.
class Responder final : private ReceiveQueueListener,
                        private ResponseFaultSink,
                        private AtomicListener,
                        private CacheClient,
                        private pcie::DmaClient {
 public:
  struct Ports {
    ReceiveQueueEngine& receiveQueue;
    Translator& translator;
    CompletionPort& completions;
    QpEventSink& errors;
    QpLookup& queuePairs;
    ResponseEngine& responses;
    AtomicUnit& atomics;
    MemoryKeyPort& keys;
    CachePort& cache;
    const RouteBuilder& routes;
    TagMatchingUnit& tags;
  };
  Responder(const AdapterContext& context, const DatapathConfig& config, const Ports& ports);

  /// A request packet arrived for `qp`, which may receive. May move the packet away.
  void onRequest(QueuePair& qp, network::Packet& packet);
  /// In error: nothing more is executed; what was acknowledged may still leave. The receive WQE of a message under way
  /// is flushed.
  void stop(QueuePair& qp);
  void reset(QueuePair& qp);
  /// The initiator of a dynamic connection doesn't know its target's key; `psn`: of its first packet.
  void refuseConnection(QueuePair& context, std::uint32_t psn);

  /// Request packets with a sequence number that was executed before.
  [[nodiscard]] std::uint64_t duplicates() const { return duplicates_; }
  /// NAKs for a gap in the sequence.
  [[nodiscard]] std::uint64_t sequenceNaks() const { return sequenceNaks_; }
  [[nodiscard]] std::uint64_t rnrNaks() const { return rnrNaks_; }
  /// Messages of unreliable services that were dropped: no receive WQE, a gap, a broken rule.
  [[nodiscard]] std::uint64_t unreliableDrops() const { return unreliableDrops_; }

 private:
  enum class Outcome : std::uint8_t { kDone, kWait, kMissed, kFailed };

  void onReceiveAvailable(QueuePair& qp) override;
  void onReceiveEmpty(QueuePair& qp) override;
  void onResponseFault(QueuePair& qp, std::uint32_t psn) override;
  void onAtomicDone(const AtomicOperation& operation, bool ok, std::uint64_t before) override;
  void onDmaRead(std::uint64_t, host::DmaStatus, ByteView) override {}
  void onDmaWritten(std::uint64_t token, host::DmaStatus status) override;

  void onCacheReady(std::uint64_t token) override;

  void reportEstablished(QueuePair& qp);
  void process(QueuePair& qp, network::Packet& packet);
  void processReliable(QueuePair& qp, network::Packet& packet);
  void processUnreliable(QueuePair& qp, network::Packet& packet);
  /// False if the packet has to wait for a receive WQE or a translation, or ended in an error.
  bool executeOrWait(QueuePair& qp, network::Packet& packet);
  void processDuplicate(QueuePair& qp, const network::Packet& packet);
  Outcome execute(QueuePair& qp, network::Packet& packet);
  Outcome executeRead(QueuePair& qp, const network::Packet& packet);
  Outcome executeAtomic(QueuePair& qp, const network::Packet& packet);
  bool selectSharedQueue(QueuePair& qp, const network::Packet& packet);
  [[nodiscard]] PdNumber remoteDomain(const QueuePair& qp, const network::Packet& packet) const;
  bool mayRead(const QueuePair& qp, const network::Packet& packet);
  Outcome executeSend(QueuePair& qp, const network::Packet& packet);
  Outcome invalidate(QueuePair& qp, const network::Packet& packet);
  Outcome executeWrite(QueuePair& qp, const network::Packet& packet);
  Outcome takeReceive(QueuePair& qp, const network::Packet& packet);
  Outcome takeStrides(QueuePair& qp, const network::Packet& packet);
  void fillStrides(QueuePair& qp);
  void describeStrides(QueuePair& qp, CompletionRecord& record);
  Outcome beginTagged(QueuePair& qp, const network::Packet& packet);
  Outcome takeUntagged(QueuePair& qp, const network::Packet& packet, TaggedMessage::Kind kind);
  Outcome takeTag(QueuePair& qp, const network::Packet& packet, const TagList::Match& match);
  Outcome beginTransfer(QueuePair& qp, const network::Packet& packet, const TagList::Match& match);
  void describeTagged(const QueuePair& qp, CompletionRecord& record) const;
  [[nodiscard]] CompletionRecord receiveRecord(const QueuePair& qp) const;
  void finishReceive(QueuePair& qp, const CompletionRecord& record);
  void failHeld(QueuePair& qp, CqeSyndrome syndrome, std::uint8_t vendorError);
  Outcome startWrite(QueuePair& qp, const network::Packet& packet);
  Outcome placeInReceive(QueuePair& qp, const network::Packet& packet);
  Translation translate(const AccessRequest& request);
  [[nodiscard]] bool missed(const QueuePair& qp);
  AccessFault locate(const QueuePair& qp, std::uint64_t from, std::uint64_t length, bool& relaxedOrdering);
  Outcome placeByWrite(QueuePair& qp, const network::Packet& packet);
  bool placeGlobalRoute(QueuePair& qp, const network::Packet& packet);
  [[nodiscard]] static bool fitsEntry(const QueuePair& qp, const network::Packet& packet);
  void scatter(const network::Packet& packet, ByteView data, bool relaxedOrdering);
  void scatterShifted(const network::Packet& packet, std::uint32_t prefix, bool relaxedOrdering);
  void finishMessage(QueuePair& qp, const network::Packet& packet);
  static void describeFrame(const network::Packet& packet, CompletionRecord& record);
  void completeReceive(QueuePair& qp, const network::Packet& packet);
  void breakOff(QueuePair& qp);
  Outcome refuse(QueuePair& qp, const network::Packet& packet, std::uint8_t nak, EventType event);
  Outcome failReceive(QueuePair& qp, const network::Packet& packet, CqeSyndrome syndrome, std::uint8_t vendorError,
                      std::uint8_t nak);
  void answer(QueuePair& qp, std::uint32_t psn);
  void onAckDelay(std::uint32_t qpNumber);
  void send(QueuePair& qp, const Response& response);
  void acknowledge(QueuePair& qp, std::uint8_t syndrome, std::uint32_t psn);
  void resumeWaiting(QueuePair& qp);
  std::uint64_t rememberPlacing(const observe::WorkRequestId& request);

  /// An acknowledgement that waits for further requests.
  struct DeferredAck {
    std::uint32_t psn = 0;
    std::int64_t requests = 0;
  };

  AdapterContext context_;
  const DatapathConfig& config_;
  Ports ports_;
  std::unordered_map<std::uint32_t, DeferredAck> deferredAcks_;  // by queue pair
  kernel::KeyedTimers<Responder> ackTimers_;
  bool hasWaited_ = false;  // the packet being executed did, for what its accesses missed
  std::vector<Segment> segments_;
  std::vector<observe::WorkRequestId> placing_;  // requests whose last write is under way, for probes alone
  std::vector<std::uint64_t> freePlacing_;       // reusable places in it
  std::uint64_t duplicates_ = 0;
  std::uint64_t sequenceNaks_ = 0;
  std::uint64_t rnrNaks_ = 0;
  std::uint64_t unreliableDrops_ = 0;
};

}  // namespace hca::adapter

// Turns send requests into packets and acknowledgements into completions.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "models/adapter/adapter_context.h"
#include "models/adapter/completion/completion_port.h"
#include "models/adapter/memory/cache_port.h"
#include "models/adapter/memory/translator.h"
#include "models/adapter/requester/memory_operation_unit.h"
#include "models/adapter/requester/processing_units.h"
#include "models/adapter/requester/transfer_listener.h"
#include "models/adapter/transport/datapath_config.h"
#include "models/adapter/transport/egress_pipeline.h"
#include "models/adapter/transport/qp_lookup.h"
#include "models/adapter/transport/ready_queues.h"
#include "models/adapter/transport/route_builder.h"
#include "models/kernel/keyed_timers.h"
#include "models/kernel/timer.h"

namespace hca::adapter {

/// The requester of all transport services: schedules queue pairs round robin, one packet a turn, on the processing
/// units; numbers packets; keeps requests until they are acknowledged; goes back on a NAK or a time-out; completes in
/// order. A request that fails reports its cause after everything before it is done.
class Requester final : private EgressListener,
                        private EgressRoomListener,
                        private MemoryOperationListener,
                        private CacheClient {
 public:
  struct Ports {
    EgressPipeline& egress;
    Translator& translator;
    CompletionPort& completions;
    QpLookup& queuePairs;
    QpEventSink& errors;
    const RouteBuilder& routes;
    MemoryOperationUnit& memoryOperations;
    CachePort& cache;
  };
  Requester(const AdapterContext& context, const DatapathConfig& config, const Ports& ports);
  /// Who executes operations on lists of tags, and is told of the requests that came with a RendezvousTransfer.
  void connect(TagListPort& tags, TransferListener& transfers) {
    ports_.memoryOperations.connect(tags);
    transfers_ = &transfers;
  }

  /// A WQE was fetched and parsed, or the adapter has a request of its own. In error, or in send queue error, it is
  /// flushed at once.
  void submit(QueuePair& qp, SendRequest&& request);
  /// An acknowledgement, read response or atomic acknowledgement arrived.
  void onResponse(QueuePair& qp, const network::Packet& packet);
  /// Nothing new begins from now on; reports when what began is done.
  void drain(QueuePair& qp);
  /// Requests may flow again (state change).
  void resume(QueuePair& qp);
  /// Completes everything as flushed.
  void flush(QueuePair& qp);
  /// Forgets everything, without completions.
  void reset(QueuePair& qp);

  /// Packets built again after a NAK or a time-out.
  [[nodiscard]] std::uint64_t retransmissions() const { return retransmissions_; }

 private:
  void reportSent(const QueuePair& qp, std::uint32_t psn, Time lastBit) const;
  void onPacketSent(QueuePair& qp, std::uint32_t psn, bool ackRequest, Time lastBit) override;
  void onPayloadUnreadable(QueuePair& qp, std::uint32_t psn) override;
  void onEgressRoom() override { pump(); }
  void onAckTimeout(std::uint32_t qpNumber);
  void onRnrTimeout(std::uint32_t qpNumber);
  void onUnitFree() { pump(); }

  void onMemoryOperationDone(QueuePair& qp, const MemoryOperationResult& result) override;
  [[nodiscard]] static bool hasWork(const QueuePair& qp);
  [[nodiscard]] static bool fenceHolds(const RequesterState& state, FenceMode fence);
  void schedule(QueuePair& qp);
  void pump();
  bool isAtHand(const QueuePair& qp);
  void onCacheReady(std::uint64_t token) override;
  void buildPacket(QueuePair& qp);
  [[nodiscard]] static bool leadsToTarget(const QueuePair& qp, const DatagramAddress& to);
  [[nodiscard]] static bool waitsForTarget(const QueuePair& qp, const SendRequest& next);
  bool prepareConnection(QueuePair& qp, const SendRequest& request);
  void sendControl(QueuePair& qp, network::Operation operation);
  void buildRead(QueuePair& qp, SendRequest& request);
  void runMemoryOperation(QueuePair& qp, SendRequest& request);
  bool start(QueuePair& qp, SendRequest& request);
  network::Packet makePacket(const QueuePair& qp, const SendRequest& request, std::uint32_t index) const;
  [[nodiscard]] bool mayLeave(const QueuePair& qp, const SendRequest& request) const;
  bool frame(const QueuePair& qp, const SendRequest& request, network::Packet& packet);
  bool gather(const QueuePair& qp, const SendRequest& request, std::uint32_t offset, std::uint32_t length,
              Access access);
  void fault(QueuePair& qp, SendRequest& request, CqeSyndrome syndrome, std::uint8_t vendorError);
  void failIfOldest(QueuePair& qp);
  void completeThrough(QueuePair& qp, std::uint32_t psn);
  void completeMemoryOperations(QueuePair& qp);
  void onAcknowledge(QueuePair& qp, const network::Packet& packet);
  void onReturnedData(QueuePair& qp, const network::Packet& packet);
  bool placeReturned(const QueuePair& qp, const SendRequest& request, const network::Packet& packet, bool inlined);
  [[nodiscard]] static bool fitsEntry(const QueuePair& qp, const SendRequest& request);
  void recover(QueuePair& qp);
  void onProgress(QueuePair& qp);
  void popOldest(QueuePair& qp);
  void complete(QueuePair& qp, const SendRequest& request);
  void complete(QueuePair& qp, const SendRequest& request, const CompletionRecord& record);
  void checkDrained(QueuePair& qp);
  void completeWithError(QueuePair& qp, const SendRequest& request, CqeSyndrome syndrome, std::uint8_t vendorError);
  void goBackTo(QueuePair& qp, std::uint32_t psn);
  void failOldest(QueuePair& qp, CqeSyndrome syndrome, std::uint8_t vendorError);
  void onRnrNak(QueuePair& qp, const network::Packet& packet);
  void onNak(QueuePair& qp, const network::Packet& packet);
  void retry(QueuePair& qp, std::uint32_t psn);
  void restartAckTimer(QueuePair& qp);
  [[nodiscard]] bool isOutstanding(const QueuePair& qp, std::uint32_t psn) const;
  [[nodiscard]] observe::WorkRequestId idOf(const QueuePair& qp, const SendRequest& request) const;
  void report(observe::Stage stage, const QueuePair& qp, const SendRequest& request, Time when) const;
  [[nodiscard]] CompletionRecord recordOf(const QueuePair& qp, const SendRequest& request) const;

  AdapterContext context_;
  const DatapathConfig& config_;
  Ports ports_;
  TransferListener* transfers_ = nullptr;
  ProcessingUnits units_;
  ReadyQueues ready_;
  kernel::Timer<Requester> unitTimer_;
  kernel::KeyedTimers<Requester> ackTimers_;
  kernel::KeyedTimers<Requester> rnrTimers_;
  std::vector<Segment> segments_;                   // of the packet being built
  std::unordered_set<std::uint64_t> fetchedAgain_;  // requests that came back to the chip; looked up only
  std::uint64_t retransmissions_ = 0;
  std::uint32_t connections_ = 0;  // dynamic ones so far
};

}  // namespace hca::adapter

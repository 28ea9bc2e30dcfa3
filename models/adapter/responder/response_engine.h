// Sends acknowledgements and read responses, each queue pair's in order.
#pragma once

#include <cstdint>
#include <vector>

#include "models/adapter/adapter_context.h"
#include "models/adapter/memory/translator.h"
#include "models/adapter/responder/response.h"
#include "models/adapter/transport/egress_pipeline.h"
#include "models/adapter/transport/qp_lookup.h"
#include "models/adapter/transport/ready_queues.h"
#include "models/adapter/transport/route_builder.h"

namespace hca::adapter {

/// Told that memory under a response can't be read.
class ResponseFaultSink {
 public:
  virtual void onResponseFault(QueuePair& qp, std::uint32_t psn) = 0;

 protected:
  ~ResponseFaultSink() = default;
};

/// The sending half of the responder. Responses of one queue pair leave in the order of their requests; queue pairs
/// with reads take turns, one packet each, as far as the egress buffer has room.
class ResponseEngine final : private EgressRoomListener, private EgressListener {
 public:
  ResponseEngine(const AdapterContext& context, EgressPipeline& egress, Translator& translator, QpLookup& queuePairs,
                 const RouteBuilder& routes);
  void connect(ResponseFaultSink& sink) { faults_ = &sink; }

  /// Queues a response behind the earlier ones of `qp`. An atomic is queued before it is executed, to keep its place.
  void send(QueuePair& qp, const Response& response);
  /// The atomic with this number was executed; `result` is the value before.
  void finishAtomic(QueuePair& qp, std::uint32_t psn, std::uint64_t result);
  void reset(QueuePair& qp);

 private:
  void onEgressRoom() override { pump(); }
  void onPacketSent(QueuePair&, std::uint32_t, bool, Time) override {}
  void onPayloadUnreadable(QueuePair& qp, std::uint32_t psn) override;
  void schedule(QueuePair& qp);
  void pump();
  bool sendNext(QueuePair& qp);
  bool sendReadPacket(QueuePair& qp, Response& response);
  [[nodiscard]] network::Packet header(const QueuePair& qp, const Response& response) const;

  AdapterContext context_;
  EgressPipeline& egress_;
  Translator& translator_;
  QpLookup& queuePairs_;
  const RouteBuilder& routes_;
  ResponseFaultSink* faults_ = nullptr;
  ReadyQueues ready_;
  std::vector<Segment> segments_;
  bool pumping_ = false;
};

}  // namespace hca::adapter

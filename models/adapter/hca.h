// One adapter: its blocks, wired.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "models/adapter/adapter_context.h"
#include "models/adapter/command/command_processor.h"
#include "models/adapter/command/vendor_gateway.h"
#include "models/adapter/completion/cq_engine.h"
#include "models/adapter/doorbell/bar_decoder.h"
#include "models/adapter/event/eq_engine.h"
#include "models/adapter/event/msix_table.h"
#include "models/adapter/hca_config.h"
#include "models/adapter/memory/cache_port.h"
#include "models/adapter/memory/context_cache.h"
#include "models/adapter/memory/device_memory_port.h"
#include "models/adapter/memory/mkey_table.h"
#include "models/adapter/memory/number_table.h"
#include "models/adapter/receive_queue/receive_queue_engine.h"
#include "models/adapter/receive_queue/srq_engine.h"
#include "models/adapter/receive_queue/tag_matching_unit.h"
#include "models/adapter/requester/memory_operation_unit.h"
#include "models/adapter/requester/requester.h"
#include "models/adapter/responder/atomic_unit.h"
#include "models/adapter/responder/responder.h"
#include "models/adapter/responder/response_engine.h"
#include "models/adapter/send_queue/send_queue_engine.h"
#include "models/adapter/transport/egress_pipeline.h"
#include "models/adapter/transport/ingress_buffer.h"
#include "models/adapter/transport/loopback.h"
#include "models/adapter/transport/packet_dispatcher.h"
#include "models/adapter/transport/qp_table.h"
#include "models/adapter/transport/route_builder.h"
#include "models/pcie/bar_target.h"
#include "models/wire/eqe.h"

namespace hca::adapter {

/// The adapter behind a PCIe endpoint (which brings DMA and configuration space) and its ports. Wiring only: every
/// behaviour is in a block.
class Hca final : public pcie::BarTarget, private HealthSink {
 public:
  struct Options {
    AdapterIdentity identity;
    std::vector<PortAddress> addresses;  ///< one for each port of `identity`
    bool movePayload = true;
    std::uint64_t seed = 1;
  };

  /// `wires`: one for each port. They and `context.dma` may be used only after construction of everything around.
  Hca(const AdapterContext& context, const HcaConfig& config, const Options& options,
      const std::vector<network::PacketSender*>& wires);

  /// Of the function's vendor-specific capability.
  [[nodiscard]] pcie::VendorRegisters& vendorRegisters() { return gateway_; }

  // pcie::BarTarget
  void onBarWrite(unsigned bar, std::uint64_t offset, ByteView bytes) override;
  void expectBarWrite(unsigned bar, std::uint64_t offset, ByteView bytes) override;
  void onBarRead(unsigned bar, std::uint64_t offset, MutableByteView into) override;
  void onReset() override;
  void onMsixControl(bool enabled, bool functionMasked) override;

  /// Where the link of port `port`, counted from 1, delivers packets, and where it tells its state.
  [[nodiscard]] network::PacketReceiver& packetReceiver(std::uint8_t port) { return ports_[port - 1U].ingress; }
  [[nodiscard]] network::LinkListener& linkListener(std::uint8_t port) { return ports_[port - 1U]; }
  [[nodiscard]] std::uint8_t ports() const { return static_cast<std::uint8_t>(ports_.size()); }

  // What an outside hand does to it: a subnet manager, mostly. `port` counts from 1. Each tells the driver by an event.
  void changeLid(std::uint8_t port, Lid lid);
  void changePartitionKeys(std::uint8_t port, const std::vector<std::uint16_t>& keys);
  void changeGuid(std::uint8_t port, std::uint64_t guid);
  void askToReregister(std::uint8_t port);
  /// It fails for good: queue pairs are gone, the health buffer says why. Only a reset of the function helps.
  void fail(HealthSyndrome syndrome, bool asksForReset = false);
  /// Its firmware starts anew, by itself: every object is gone, the interface reads as disabled, nobody is told. The
  /// configuration space stays.
  void restart();
  /// The health buffer says something; the adapter goes on.
  void reportHealth(HealthSyndrome syndrome, bool asksForReset) {
    command_.setHealthSyndrome(static_cast<std::uint8_t>(syndrome), asksForReset);
  }
  void breakCommands(CommandFault fault) { command_.addFault(std::move(fault)); }
  void stopHealthCounter(bool stopped) { command_.stopHealthCounter(stopped); }
  void loseInterrupts(MsixTable::Loss loss) { vectors_.lose(std::move(loss)); }
  /// An interrupt that nothing caused. False if there is no such vector.
  bool fireInterrupt(InterruptVector vector);
  void overflowEventQueue(EqEngine::Overflow overflow) { events_.overflow(std::move(overflow)); }
  bool breakCompletionQueue(CqNumber number, CqStatus status) { return completion_.breakQueue(number, status); }

  // For reports.
  [[nodiscard]] AdapterAccount account() const { return command_.account(); }
  [[nodiscard]] const CqEngine& completion() const { return completion_; }
  [[nodiscard]] const EqEngine& events() const { return events_; }
  [[nodiscard]] const MsixTable& vectors() const { return vectors_; }
  [[nodiscard]] const PacketDispatcher& dispatcher() const { return dispatcher_; }
  [[nodiscard]] const Requester& requester() const { return requester_; }
  [[nodiscard]] const Responder& responder() const { return responder_; }
  [[nodiscard]] const Loopback& loopback(std::uint8_t port = 1) const { return ports_[port - 1U].loopback; }
  [[nodiscard]] const SendQueueEngine& sendQueue() const { return sendQueue_; }
  [[nodiscard]] const BarDecoder& decoder() const { return decoder_; }
  [[nodiscard]] CommandProcessor& command() { return command_; }
  [[nodiscard]] const CommandProcessor& command() const { return command_; }
  [[nodiscard]] const QpTable& queuePairs() const { return queuePairs_; }
  [[nodiscard]] const MkeyTable& memoryKeys() const { return memoryKeys_; }
  [[nodiscard]] const ContextCache& caches() const { return contextCache_; }
  [[nodiscard]] const DeviceMemory& deviceMemory() const { return deviceMemory_; }
  [[nodiscard]] const DeviceMemoryPort& deviceMemoryPort() const { return deviceMemoryPort_; }

 private:
  /// What is there once for each port.
  struct Port final : network::LinkListener {
    Port(Hca& adapter, std::uint8_t port)
        : owner(adapter),
          number(port),
          loopback(adapter.context_, adapter.config_.transport),
          ingress(adapter.context_.dma, adapter.config_.transport.ingressBuffer) {}
    void onLinkState(bool isUp) override { owner.onLinkState(number, isUp); }

    Hca& owner;
    std::uint8_t number;
    Loopback loopback;
    IngressBuffer ingress;
  };
  void connectPort(network::PacketSender& wire);
  void onLinkState(std::uint8_t port, bool isUp);
  void raisePortChange(std::uint8_t port, wire::PortChange change);
  void onHealthProblem(HealthSyndrome syndrome) override;
  void destroyObjects();

  HcaConfig config_;
  DeviceMemory deviceMemory_;
  DeviceMemoryPort deviceMemoryPort_;
  AdapterContext context_;  // with that port in the way to memory, if there is device memory
  RouteBuilder routes_;
  CachePort cache_;
  ContextCache contextCache_;
  PdTable domains_;
  UarTable uars_;
  MkeyTable memoryKeys_;
  MsixTable vectors_;
  VendorGateway gateway_;
  EqEngine events_;
  CqEngine completion_;
  QpTable queuePairs_;
  EgressPipeline egress_;
  MemoryOperationUnit memoryOperations_;
  Requester requester_;
  SendQueueEngine sendQueue_;
  SrqEngine sharedQueues_;
  TagMatchingUnit tags_;
  ReceiveQueueEngine receiveQueue_;
  ResponseEngine responses_;
  AtomicUnit atomics_;
  Responder responder_;
  PacketDispatcher dispatcher_;
  CommandProcessor command_;
  BarDecoder decoder_;
  std::deque<Port> ports_;  // by port - 1
};

}  // namespace hca::adapter

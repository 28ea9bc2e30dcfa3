// One end of a link: what arrives from its device, and the direction that leads away from it.
#pragma once

#include <cstdint>

#include "models/kernel/calendar_module.h"
#include "models/kernel/inbox.h"
#include "models/pcie/link_timing.h"
#include "models/pcie/pcie_config.h"
#include "models/pcie/protocol.h"
#include "models/pcie/transmitter.h"

namespace hca::pcie {

struct PcieExtension;

/// One transaction on its way, with its extension at hand.
struct Cargo {
  tlm::tlm_generic_payload* payload = nullptr;
  PcieExtension* extension = nullptr;
};

/// What both sides of a link share.
struct LinkContext {
  kernel::CalendarModule& calendar;
  LinkTiming timing;
  Time latency;  ///< from the last bit on the lanes to the whole TLP behind the receiver's port
  Time creditReturnLatency;
  std::uint32_t maxPayload;
  std::uint32_t maxReadRequest;

  LinkContext(kernel::CalendarModule& module, const PcieConfig& config);
};

/// Takes calls from the device at this end (protocol.h), sends their TLPs to the device at the other end.
/// The transmitting port's latency is the same for every TLP of a direction, so it is added behind the lanes: the lanes
/// are never taken for a time to come.
class LinkSide final : public ForwardInterface, public BackwardInterface, private Transmitter<Cargo>::Sink {
 public:
  /// `credits` are those of the receiver at the other end. The sockets are the ones at this end.
  LinkSide(const LinkContext& context, const CreditLimits& credits, TargetSocket& fromDevice,
           InitiatorSocket& toDevice);

  void connect(LinkSide& other) { other_ = &other; }
  /// Both sockets are bound: finds out whether the device acts through the calendar alone.
  void inspectDevice();
  [[nodiscard]] const TrafficCounts& counts() const { return transmitter_.counts(); }
  [[nodiscard]] WaitState waitState() const { return transmitter_.waitState(); }

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override;

 private:
  using Payload = tlm::tlm_generic_payload;
  using Outbound = Transmitter<Cargo>::Outbound;
  enum class Message : std::uint8_t { kRequest, kCompletion, kWriteResponse };
  struct Later {
    Message message = Message::kRequest;
    Cargo cargo;
  };

  [[nodiscard]] Time enter(const sc_core::sc_time& delay);
  void leave();
  void accept(Message message, Cargo cargo, Time when);
  void onLater(Later& later);
  void act(Message message, Cargo cargo);
  void transmit(Message message, Cargo cargo);
  void onTransmit(const Outbound& outbound, Time last) override;
  void sendRequest(const Outbound& outbound, Time arrival);
  void onAnswer(const Outbound& outbound, bool responds, Time when);
  void sendCompletion(const Outbound& outbound, Time arrival);
  void respondToWriter(Cargo cargo);
  void takeBack(TlpClass tlpClass, const Burst& burst, Time when);
  void takeHeldBack(Cargo cargo, Time when);
  [[nodiscard]] Burst shapeOf(TlpClass tlpClass, Cargo cargo) const;
  void calledOut() const {
    if (deviceIsForeign_) context_.calendar.refreshHorizon();
  }

  const LinkContext& context_;
  kernel::Calendar& calendar_;
  TargetSocket& fromDevice_;
  InitiatorSocket& toDevice_;
  LinkSide* other_ = nullptr;
  Transmitter<Cargo> transmitter_;
  kernel::Inbox<LinkSide, Later> later_;
  bool deviceIsForeign_ = true;
};

}  // namespace hca::pcie

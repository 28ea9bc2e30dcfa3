// The adapter's end of a PCI Express link.
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "models/kernel/calendar_module.h"
#include "models/kernel/inbox.h"
#include "models/kernel/ring_queue.h"
#include "models/kernel/timer.h"
#include "models/pcie/bar_target.h"
#include "models/pcie/configuration_space.h"
#include "models/pcie/dma_port.h"
#include "models/pcie/link_timing.h"
#include "models/pcie/pcie_config.h"
#include "models/pcie/protocol.h"
#include "models/pcie/tag_pool.h"
#include "models/pcie/transaction_pool.h"
#include "models/pcie/vendor_registers.h"

namespace hca::pcie {

/// What the endpoint refused or dropped.
struct EndpointCounters {
  std::uint64_t readsWithoutMastering = 0;     ///< answered as kUnmapped
  std::uint64_t writesWithoutMastering = 0;    ///< dropped
  std::uint64_t messagesWithoutMastering = 0;  ///< dropped
  std::uint64_t unclaimedWrites = 0;           ///< register writes while memory space is disabled, or outside of BAR 0
  std::uint64_t unclaimedReads = 0;            ///< likewise; answered with all ones
  std::uint64_t failedReads = 0;               ///< DMA reads that came back with an error
  std::uint64_t failedWrites = 0;              ///< DMA writes that the host reported as failed
  std::uint64_t resets = 0;                    ///< function-level resets
};

/// One PCI function: configuration space, register accesses to a BarTarget, and DMA for the blocks of the adapter.
/// Acts through the calendar alone.
///
/// DMA: a range is sent in bursts that don't cross 4 KiB, cut by maximum payload or read request size. Reads wait in
/// call order for tags, of which each read request TLP takes one.
class Endpoint final : public sc_core::sc_module,
                       public DmaPort,
                       public CalendarPeer,
                       public ForwardInterface,
                       public BackwardInterface {
 public:
  InitiatorSocket link_initiator_socket{"link_initiator_socket"};
  TargetSocket link_target_socket{"link_target_socket"};

  /// Throws std::invalid_argument where ConfigurationSpace and LinkTiming do.
  Endpoint(const sc_core::sc_module_name& name, kernel::CalendarModule& calendar, const PcieConfig& config,
           const FunctionDescription& description);

  /// The registers of the description's vendor-specific capability; they outlive the endpoint's use.
  void setVendorRegisters(VendorRegisters& registers) { vendor_ = &registers; }
  /// Before the simulation starts. `target` outlives the endpoint's use.
  void setBarTarget(BarTarget& target) { target_ = &target; }

  /// The function is gone from the link, or back. While it is gone, reads of whatever kind give all ones, writes go
  /// nowhere, and the adapter is as after power-on, which it is again when it comes back. The configuration space is
  /// then what it was: as the host's software restores it after a link that went down (PCI Express Base Specification,
  /// 6.2.10, downstream port containment).
  void setPresent(bool present);
  [[nodiscard]] bool isPresent() const { return isPresent_; }

  void read(const DmaRead& request) override;
  void write(const DmaWrite& request) override;
  void message(BusAddress address, std::uint32_t data) override;
  [[nodiscard]] Time drainedAt() const override { return drainedAt_; }
  [[nodiscard]] Time drainTime(Bytes size) const override;

  [[nodiscard]] const ConfigurationSpace& configuration() const { return configuration_; }
  [[nodiscard]] const EndpointCounters& counters() const { return counters_; }
  /// DMA reads that are not answered yet.
  [[nodiscard]] std::size_t pendingReads() const { return reads_.size() - freeReads_.size(); }

 private:
  struct Read {
    DmaRead request;
    std::uint32_t issued = 0;       // bytes
    std::uint32_t outstanding = 0;  // transactions
    bool isIssuing = false;         // more requests to come
    bool isWaiting = false;         // in waiting_
    bool isDelivering = false;      // the result is on its way to the client
    std::uint32_t resets = 0;
    host::DmaStatus status = host::DmaStatus::kOk;
    Time last{};  // arrival of the last completion so far
    std::vector<std::uint8_t> data;
  };
  struct SplitWrite {  // one that takes several transactions
    DmaClient* client = nullptr;
    std::uint64_t token = 0;
    bool notify = false;
    std::uint32_t outstanding = 0;
    host::DmaStatus status = host::DmaStatus::kOk;
  };
  struct Delivery {
    std::uint32_t read = 0;
  };
  struct RefusedWrite {
    DmaClient* client = nullptr;
    std::uint64_t token = 0;
    std::uint32_t resets = 0;
  };
  struct RegisterAccess {
    tlm::tlm_generic_payload* payload = nullptr;
    std::uint8_t bar = 0;
  };

  // Socket interfaces.
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override;

  void onRegisterAccess(RegisterAccess& access);
  [[nodiscard]] bool claims(const RegisterAccess& access, std::uint64_t& offset) const;
  [[nodiscard]] bool isVendors(std::uint32_t offset, std::uint32_t width) const;
  [[nodiscard]] std::uint32_t configurationRead(std::uint32_t offset, std::uint32_t width);
  void configurationWrite(std::uint32_t offset, std::uint32_t width, std::uint32_t value);
  void reset();
  void dropDma();
  [[nodiscard]] bool mastersBus() const { return isPresent_ && configuration_.mastersBus(); }
  void send(const TransactionPool::Transaction& transaction, Traffic traffic, std::uint32_t pieceSize);
  [[nodiscard]] Time durationOf(const tlm::tlm_generic_payload& payload, std::uint32_t pieceSize) const;
  void wakeCalendar();

  std::uint32_t newRead(const DmaRead& request);
  bool issueRead(std::uint32_t index);
  void issueWaiting();
  void onReadCompletion(tlm::tlm_generic_payload& payload, Time when);
  void giveTagsBack(const tlm::tlm_generic_payload& payload, std::uint32_t pieceSize, Time when);
  void deliver(std::uint32_t index, Time when);
  void onDelivery(Delivery& delivery);
  void releaseIfDone(std::uint32_t index);
  void sendSplitWrite(const DmaWrite& request);
  TransactionPool::Transaction writeBurst(const DmaWrite& request, std::uint32_t offset, std::uint32_t length);
  void refuseWrite(const DmaWrite& request);
  void onRefusedWrite(RefusedWrite& refused);
  void onWriteResponse(tlm::tlm_generic_payload& payload);

  kernel::CalendarModule& module_;
  kernel::Calendar& calendar_;
  ConfigurationSpace configuration_;
  LinkTiming timing_;
  BarTarget* target_ = nullptr;
  VendorRegisters* vendor_ = nullptr;
  EndpointCounters counters_;
  TransactionPool pool_;
  TagPool tags_;
  std::uint32_t burstWrites_;  // most TLPs of one burst
  std::uint32_t burstReads_;
  std::uint32_t resets_ = 0;
  bool isPresent_ = true;
  Time drainedAt_{};
  std::vector<Read> reads_;
  std::vector<std::uint32_t> freeReads_;
  kernel::RingQueue<std::uint32_t> waiting_;  // reads that need tags
  std::vector<SplitWrite> splitWrites_;
  std::vector<std::uint32_t> freeSplitWrites_;
  kernel::Inbox<Endpoint, RegisterAccess> accesses_;
  kernel::Inbox<Endpoint, Delivery> deliveries_;
  kernel::Inbox<Endpoint, RefusedWrite> refusals_;
  kernel::Timer<Endpoint> tagTimer_;
};

}  // namespace hca::pcie

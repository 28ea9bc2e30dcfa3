// The host's end of a PCI Express link.
#pragma once

#include <array>
#include <cstdint>
#include <systemc>
#include <vector>

#include "models/host/bus_address_space.h"
#include "models/host/interrupt_port.h"
#include "models/host/memory_timing.h"
#include "models/kernel/calendar_module.h"
#include "models/kernel/inbox.h"
#include "models/pcie/link_timing.h"
#include "models/pcie/pci_function.h"
#include "models/pcie/pcie_config.h"
#include "models/pcie/protocol.h"
#include "models/pcie/transaction_pool.h"

namespace hca::host {

struct RootComplexCounters {
  std::uint64_t writeErrors = 0;  ///< DMA writes that failed: unmapped, or the owner's memory refused
  std::uint64_t readErrors = 0;   ///< DMA reads, likewise
  std::uint64_t messages = 0;     ///< interrupt messages passed on
};

/// One root port: DMA into a BusAddressSpace, interrupt messages to an InterruptPort, and the adapter's function for
/// software. Acts through the calendar alone.
///
/// A write becomes visible a write latency after its arrival, not before an earlier one (unless it has relaxed
/// ordering). A read starts when all writes before it are visible and has its data a read latency later; what is in
/// memory then is what it returns. A burst of reads answers with one burst of completions, as early as it can be sent
/// without a gap. Reads share the memory's bandwidth in the order of arrival. With a MemoryTiming, translation, cache
/// and distance add to both latencies.
class RootComplex final : public sc_core::sc_module,
                          public pcie::PciFunction,
                          public pcie::CalendarPeer,
                          public pcie::ForwardInterface,
                          public pcie::BackwardInterface {
 public:
  /// Writes of 4 bytes to these addresses are interrupt messages (Intel SDM volume 3, 10.11.1).
  static constexpr std::uint64_t kMessageStart = 0xFEE0'0000;
  static constexpr std::uint64_t kMessageEnd = 0xFEF0'0000;

  pcie::InitiatorSocket link_initiator_socket{"link_initiator_socket"};
  pcie::TargetSocket link_target_socket{"link_target_socket"};

  /// Throws std::invalid_argument for sizes that PCI Express has no code for.
  RootComplex(const sc_core::sc_module_name& name, kernel::CalendarModule& calendar, const pcie::PcieConfig& config,
              BusAddressSpace& space, InterruptPort& interrupts);
  /// Before the simulation starts; nullptr (the default): nothing delays an access beyond the latencies of [pcie].
  /// `isShared`: other root ports use it too. Requests then go to it when they arrive, in the order of the whole host;
  /// else as soon as the link tells of them, ahead of their time.
  void setMemoryTiming(MemoryTiming* timing, bool isShared = false) {
    memoryTiming_ = timing;
    waitsForArrival_ = timing != nullptr && isShared;
  }
  /// What the IOMMU translates this port's DMA with from now on; nullptr (the default): the space of construction. DMA
  /// under way finds the new one. `space` outlives its use.
  void attach(BusAddressSpace* space) { space_ = space == nullptr ? &ownSpace_ : space; }

  // PciFunction. Once the simulation has started (sc_start(SC_ZERO_TIME) is enough).
  std::uint32_t configRead(std::uint32_t offset, std::uint32_t width) override;
  void configWrite(std::uint32_t offset, std::uint32_t width, std::uint32_t value) override;
  /// As firmware found it by sizing the registers when the simulation started.
  [[nodiscard]] std::uint64_t barSize(unsigned bar) const override;
  void barWrite(unsigned bar, std::uint64_t offset, ByteView bytes) override;
  void barRead(unsigned bar, std::uint64_t offset, std::uint32_t width, ReadDone done) override;
  void reset() override;
  /// With a sink, messages go there instead of the interrupt port, the data word being the vector: for a driver that
  /// programs entry n of the MSI-X table with the data n and has no interrupt controller of its own.
  void setInterruptSink(pcie::InterruptSink* sink) override { sink_ = sink; }

  [[nodiscard]] const RootComplexCounters& counters() const { return counters_; }
  /// Register reads that software waits for.
  [[nodiscard]] std::size_t pendingReads() const { return waiting_.size() - freeWaiting_.size(); }

 private:
  static constexpr unsigned kBars = 6;
  using Payload = tlm::tlm_generic_payload;
  struct Arrival {
    Payload* payload = nullptr;
  };

  void start_of_simulation() override;
  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  void b_transport(Payload& payload, sc_core::sc_time& delay) override;
  unsigned transport_dbg(Payload& payload) override;
  bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override;

  [[nodiscard]] Time accept(Payload& payload, Time arrival);
  void onRequestArrived(Arrival& arrival);
  void onCompletionArrived(Arrival& arrival);
  [[nodiscard]] Time acceptWrite(Payload& payload, Time arrival);
  [[nodiscard]] Time acceptRead(Payload& payload, Time lastArrival);
  void onWriteVisible(Arrival& arrival);
  void onReadReady(Arrival& arrival);
  void onRegisterReadDone(Arrival& arrival);
  DmaStatus writeMemory(Payload& payload);
  DmaStatus readMemory(Payload& payload);
  [[nodiscard]] Time writeDelay(const Payload& payload, Time arrival);
  [[nodiscard]] bool isMessage(const Payload& payload) const;
  void deliverMessage(const Payload& payload);
  void respond(Payload& payload);
  void send(Payload& payload);
  void configuration(tlm::tlm_command command, std::uint32_t offset, std::uint32_t width, std::uint8_t* bytes);
  [[nodiscard]] std::uint64_t sizeBar(unsigned bar, bool& isWide);
  [[nodiscard]] std::uint32_t findCapability(std::uint8_t id);

  kernel::CalendarModule& module_;
  kernel::Calendar& calendar_;
  BusAddressSpace& ownSpace_;
  BusAddressSpace* space_;  // that DMA goes to
  InterruptPort& interrupts_;
  pcie::InterruptSink* sink_ = nullptr;
  MemoryTiming* memoryTiming_ = nullptr;
  bool waitsForArrival_ = false;
  pcie::LinkTiming timing_;
  Time readLatency_;
  Time writeLatency_;
  BitsPerSecond readBandwidth_;
  std::uint32_t maxReadRequest_;
  Time lastVisible_{};   // when the last write in order is
  Time memoryFreeAt_{};  // for reads, where bandwidth is limited
  RootComplexCounters counters_;
  std::array<std::uint64_t, kBars> barSizes_{};
  pcie::TransactionPool pool_;
  std::vector<ReadDone> waiting_;
  std::vector<std::uint32_t> freeWaiting_;
  kernel::Inbox<RootComplex, Arrival> requests_;     // of a shared MemoryTiming: not arrived yet
  kernel::Inbox<RootComplex, Arrival> completions_;  // the same: of register reads
  kernel::Inbox<RootComplex, Arrival> writes_;
  kernel::Inbox<RootComplex, Arrival> reads_;
  kernel::Inbox<RootComplex, Arrival> registerReads_;
};

}  // namespace hca::host

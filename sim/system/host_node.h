// One host with its adapters.
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "models/host/bus_address_space.h"
#include "models/host/cpu.h"
#include "models/host/interrupt_controller.h"
#include "models/host/memory_timing.h"
#include "models/kernel/calendar_module.h"
#include "models/kernel/payload_pool.h"
#include "sim/config/config.h"
#include "sim/system/adapter_node.h"
#include "sim/system/cabling.h"

namespace hca::sim {

/// Memory, cores and interrupt controller; adapters that share them. Its SystemC name is host.N, as in the
/// configuration. What belongs to an adapter is host.N.pcie, ... if the host has one, else host.N.adapter.A.pcie, ...
class HostNode final : public sc_core::sc_module {
 public:
  struct Surroundings {
    kernel::CalendarModule& calendar;
    observe::Probes& probes;
    kernel::PayloadPool& pool;
    Cabling& cabling;
  };
  HostNode(const sc_core::sc_module_name& name, const config::Config& config, HostIndex index,
           const Surroundings& surroundings);

  [[nodiscard]] HostIndex index() const { return index_; }
  [[nodiscard]] std::uint32_t adapters() const { return static_cast<std::uint32_t>(adapters_.size()); }
  [[nodiscard]] AdapterNode& adapter(std::uint32_t number = 0) { return *adapters_[number]; }
  [[nodiscard]] const AdapterNode& adapter(std::uint32_t number = 0) const { return *adapters_[number]; }
  [[nodiscard]] host::Cpu& cpu() { return cpu_; }
  [[nodiscard]] host::BusAddressSpace& memory() { return space_; }
  [[nodiscard]] const host::InterruptController& interrupts() const { return interrupts_; }
  /// nullptr: nothing delays accesses to memory.
  [[nodiscard]] host::MemoryTiming* memoryTiming() { return memoryTiming_.get(); }
  [[nodiscard]] const host::MemoryTiming* memoryTiming() const { return memoryTiming_.get(); }

 private:
  void addAdapter(const config::Config& config, const Surroundings& surroundings);

  HostIndex index_;
  host::BusAddressSpace space_;
  host::InterruptController interrupts_;
  host::Cpu cpu_;
  std::unique_ptr<host::MemoryTiming> memoryTiming_;
  std::vector<std::unique_ptr<sc_core::sc_module>> groups_;
  std::vector<std::unique_ptr<AdapterNode>> adapters_;
};

}  // namespace hca::sim

// One host with its adapter.
#pragma once

#include <memory>
#include <systemc>

#include "models/adapter/hca.h"
#include "models/host/bus_address_space.h"
#include "models/host/cpu.h"
#include "models/host/interrupt_controller.h"
#include "models/host/memory_timing.h"
#include "models/host/root_complex.h"
#include "models/kernel/calendar_module.h"
#include "models/kernel/payload_pool.h"
#include "models/network/link.h"
#include "models/pcie/endpoint.h"
#include "models/pcie/link.h"
#include "sim/config/config.h"
#include "sim/driver/driver_environment.h"
#include "sim/driver/kernel_driver.h"

namespace hca::sim {

/// Memory, cores, interrupt controller and root complex; a PCIe link; an adapter; the kernel driver. Its SystemC name
/// is host.N, as in the configuration.
class HostNode final : public sc_core::sc_module {
 public:
  struct Surroundings {
    kernel::CalendarModule& calendar;
    observe::Probes& probes;
    kernel::PayloadPool& pool;
    network::Link& network;  ///< whose end `end` this host is at
    std::size_t end = 0;
  };
  HostNode(const sc_core::sc_module_name& name, const config::Config& config, const network::PortIdentity& identity,
           const Surroundings& surroundings);

  [[nodiscard]] driver::DriverEnvironment environment();
  [[nodiscard]] driver::KernelDriver& driver() { return driver_; }
  [[nodiscard]] const driver::KernelDriver& driver() const { return driver_; }
  [[nodiscard]] HostIndex index() const { return index_; }
  [[nodiscard]] adapter::Hca& adapter() { return adapter_; }
  [[nodiscard]] const adapter::Hca& adapter() const { return adapter_; }
  [[nodiscard]] host::Cpu& cpu() { return cpu_; }
  [[nodiscard]] host::BusAddressSpace& memory() { return space_; }
  [[nodiscard]] const host::InterruptController& interrupts() const { return interrupts_; }
  [[nodiscard]] const host::RootComplex& rootComplex() const { return rootComplex_; }
  [[nodiscard]] const pcie::Link& pcieLink() const { return link_; }
  [[nodiscard]] const pcie::Endpoint& endpoint() const { return endpoint_; }
  [[nodiscard]] pcie::Endpoint& endpoint() { return endpoint_; }
  /// nullptr: nothing delays accesses to memory.
  [[nodiscard]] host::MemoryTiming* memoryTiming() { return memoryTiming_.get(); }
  [[nodiscard]] const host::MemoryTiming* memoryTiming() const { return memoryTiming_.get(); }

 private:
  HostIndex index_;
  kernel::Calendar& calendar_;
  host::BusAddressSpace space_;
  host::InterruptController interrupts_;
  host::Cpu cpu_;
  std::unique_ptr<host::MemoryTiming> memoryTiming_;
  host::RootComplex rootComplex_;
  pcie::Link link_;
  pcie::Endpoint endpoint_;
  adapter::Hca adapter_;
  driver::KernelDriver driver_;
};

}  // namespace hca::sim

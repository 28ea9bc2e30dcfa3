// One adapter with its way to the host, its cables and its driver.
#pragma once

#include <vector>

#include "models/adapter/hca.h"
#include "models/host/bus_address_space.h"
#include "models/host/cpu.h"
#include "models/host/interrupt_controller.h"
#include "models/host/memory_timing.h"
#include "models/host/root_complex.h"
#include "models/kernel/calendar_module.h"
#include "models/kernel/payload_pool.h"
#include "models/pcie/endpoint.h"
#include "models/pcie/link.h"
#include "sim/config/config.h"
#include "sim/driver/driver_environment.h"
#include "sim/driver/kernel_driver.h"
#include "sim/system/cabling.h"
#include "sim/system/outside_hand.h"

namespace hca::sim {

/// A root port, a PCIe link, an endpoint and the adapter behind it; one instance of the kernel driver. Several of a
/// host share its memory, cores, interrupt controller and IOMMU.
class AdapterNode final {
 public:
  struct Surroundings {
    kernel::CalendarModule& calendar;
    observe::Probes& probes;
    kernel::PayloadPool& pool;
    host::BusAddressSpace& space;
    host::InterruptController& interrupts;
    host::Cpu& cpu;
    host::MemoryTiming* memoryTiming;  ///< nullptr: nothing delays accesses to memory
    Cabling& cabling;
  };
  /// Makes SystemC modules in the scope of the caller.
  AdapterNode(const config::Config& config, HostIndex host, AdapterIndex index, const Surroundings& surroundings);
  AdapterNode(const AdapterNode&) = delete;
  AdapterNode& operator=(const AdapterNode&) = delete;

  [[nodiscard]] AdapterIndex index() const { return index_; }
  /// What another driver, or a program with the device open, stands on.
  [[nodiscard]] driver::DriverEnvironment environment();
  /// What its DMA reaches from now on: see host::RootComplex::attach.
  void attach(host::BusAddressSpace* space) { rootComplex_.attach(space); }
  [[nodiscard]] driver::KernelDriver& driver() { return driver_; }
  [[nodiscard]] const driver::KernelDriver& driver() const { return driver_; }
  [[nodiscard]] OutsideHand& outsideHand() { return outsideHand_; }
  [[nodiscard]] adapter::Hca& hca() { return hca_; }
  [[nodiscard]] const adapter::Hca& hca() const { return hca_; }
  [[nodiscard]] const host::RootComplex& rootComplex() const { return rootComplex_; }
  [[nodiscard]] const pcie::Link& pcieLink() const { return link_; }
  [[nodiscard]] const pcie::Endpoint& endpoint() const { return endpoint_; }
  [[nodiscard]] pcie::Endpoint& endpoint() { return endpoint_; }
  /// The adapter's port `port`, counted from 1, as one of its host's ports.
  [[nodiscard]] std::uint32_t hostPort(std::uint32_t port) const { return firstPort_ + port - 1; }

 private:
  HostIndex host_;
  AdapterIndex index_;
  std::uint32_t firstPort_;
  kernel::Calendar& calendar_;
  host::BusAddressSpace& space_;
  host::InterruptController& interrupts_;
  host::Cpu& cpu_;
  host::RootComplex rootComplex_;
  pcie::Link link_;
  pcie::Endpoint endpoint_;
  adapter::Hca hca_;
  driver::KernelDriver driver_;
  OutsideHand outsideHand_;
};

}  // namespace hca::sim

// What a driver instance stands on.
#pragma once

#include "models/base/ids.h"
#include "models/host/bus_address_space.h"
#include "models/host/cpu.h"
#include "models/host/interrupt_controller.h"
#include "models/kernel/calendar.h"
#include "models/pcie/pci_function.h"

namespace hca::driver {

/// One adapter function and the host it is plugged into. All must outlive the driver.
struct DriverEnvironment {
  kernel::Calendar& calendar;
  pcie::PciFunction& function;
  host::BusAddressSpace& space;
  host::InterruptController& interrupts;
  host::Cpu& cpu;
  HostIndex host;
  AdapterIndex adapter;
};

}  // namespace hca::driver

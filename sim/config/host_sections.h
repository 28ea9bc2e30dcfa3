// What each host, adapter and port has of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "models/adapter/hca_config.h"
#include "models/adapter/port_config.h"
#include "models/host/cpu_config.h"
#include "models/host/iommu_config.h"
#include "models/host/memory_config.h"
#include "models/network/fault_config.h"
#include "models/pcie/pcie_config.h"
#include "sim/config/host_config.h"
#include "sim/driver/driver_config.h"

namespace hca::config {

/// Of one port.
struct PortSections {
  network::FaultConfig faults;
  network::FaultConfig switchFaults;
  adapter::PortConfig port;
};

/// Of one adapter, and of its ports if nothing else is said of them.
struct AdapterSections : PortSections {
  driver::DriverConfig driver;
  pcie::PcieConfig pcie;
  adapter::HcaConfig adapter;
  std::vector<PortSections> ports;  ///< ports with sections of their own; a port beyond them has the adapter's

  /// Of port `number`, counted from 1.
  [[nodiscard]] const PortSections& portSections(std::uint32_t number) const {
    return number <= ports.size() ? ports[number - 1] : *this;
  }
};

/// Of one host, and of its adapters if nothing else is said of them.
struct HostSections : AdapterSections {
  OneHostConfig host;
  host::CpuConfig cpu;
  host::IommuConfig iommu;
  host::MemoryConfig memory;
  std::vector<AdapterSections> adapters;  ///< adapters with sections of their own; one beyond them has the host's

  [[nodiscard]] const AdapterSections& adapterSections(std::uint32_t number) const {
    return number < adapters.size() ? adapters[number] : *this;
  }
  /// Of all its adapters.
  [[nodiscard]] std::uint32_t portCount() const { return firstPort(host.adapters) - 1; }
  /// Number of adapter `number`'s first port among the host's, which are counted from 1.
  [[nodiscard]] std::uint32_t firstPort(std::uint32_t number) const {
    std::uint32_t first = 1;
    for (std::uint32_t i = 0; i < number; ++i) first += adapterSections(i).adapter.device.ports;
    return first;
  }
};

/// The tables of sections: call `visit(name, section struct, doc)` for each.
template <class PortSectionsType, class Visit>
void forEachPortSection(PortSectionsType& port, Visit&& visit) {
  visit("link.faults", port.faults, "What goes wrong on the way of the packets that a host sends");
  visit("switch.faults", port.switchFaults, "What goes wrong on the way from the switch, if there is one, to a host");
  visit("adapter.port", port.port, "A port of an adapter");
}

/// Includes those of its ports.
template <class AdapterSectionsType, class Visit>
void forEachAdapterSection(AdapterSectionsType& adapter, Visit&& visit) {
  visit("driver", adapter.driver, "What the kernel driver asks of an adapter");
  visit("pcie", adapter.pcie, "The link between an adapter and its host");
  forEachPortSection(adapter, visit);
  visit("adapter.device", adapter.adapter.device, "Which adapter it is");
  visit("adapter.transport", adapter.adapter.transport, "Queues, processing units, requester and responder");
  visit("adapter.completion", adapter.adapter.completion, "Writer of completion queue entries, and the arm rule");
  visit("adapter.event", adapter.adapter.event, "Event queues and interrupt vectors");
  visit("adapter.memory", adapter.adapter.memory, "Memory keys, protection domains and device memory");
  visit("adapter.cache", adapter.adapter.cache, "What of the structures in host memory fits on the chip");
  visit("adapter.command", adapter.adapter.command, "The command interface");
}

/// Includes those of its adapters and ports.
template <class HostSectionsType, class Visit>
void forEachHostSection(HostSectionsType& host, Visit&& visit) {
  visit("cpu", host.cpu, "What software costs");
  visit("iommu", host.iommu, "Translation of the addresses that the adapters use");
  visit("memory", host.memory, "Where the bytes are that the adapters read and write");
  forEachAdapterSection(host, visit);
}

}  // namespace hca::config

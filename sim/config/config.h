// A whole configuration, resolved: every value is known and in range.
#pragma once

#include <string>
#include <vector>

#include "models/adapter/hca_config.h"
#include "models/host/cpu_config.h"
#include "models/host/iommu_config.h"
#include "models/host/memory_config.h"
#include "models/network/fault_config.h"
#include "models/network/network_config.h"
#include "models/network/switch_config.h"
#include "models/pcie/pcie_config.h"
#include "sim/config/host_config.h"
#include "sim/config/run_config.h"
#include "sim/driver/driver_config.h"
#include "sim/workload/dma_config.h"
#include "sim/workload/flow_config.h"

namespace hca::config {

/// What each host has of its own.
struct HostSections {
  host::CpuConfig cpu;
  host::IommuConfig iommu;
  host::MemoryConfig memory;
  driver::DriverConfig driver;
  pcie::PcieConfig pcie;
  network::FaultConfig faults;
  network::FaultConfig switchFaults;
  adapter::HcaConfig adapter;
};

struct NamedFlow {
  std::string name;
  sim::FlowConfig flow;
};

struct NamedDma {
  std::string name;
  sim::DmaConfig dma;
};

struct Config {
  RunConfig run;
  HostConfig host;
  network::NetworkConfig link;
  network::SwitchConfig fabricSwitch;
  HostSections allHosts;            ///< as the sections for all hosts say
  std::vector<HostSections> hosts;  ///< by host number, with [host.N...] applied
  std::vector<NamedFlow> flows;     ///< in the order in which they were first named
  std::vector<NamedDma> dma;        ///< likewise
};

/// The table of sections: calls `visit(name, section struct, doc)` for each. This is the one place that knows which
/// struct stands behind which section name.
template <class ConfigType, class Visit>
void forEachGlobalSection(ConfigType& config, Visit&& visit) {
  visit("run", config.run, "The run as a whole");
  visit("host", config.host, "The hosts of the fabric");
  visit("link", config.link, "What connects the ports");
  visit("switch", config.fabricSwitch, "What connects more than two hosts");
}

template <class HostSectionsType, class Visit>
void forEachHostSection(HostSectionsType& host, Visit&& visit) {
  visit("cpu", host.cpu, "What software costs");
  visit("iommu", host.iommu, "Translation of the addresses that the adapter uses");
  visit("memory", host.memory, "Where the bytes are that the adapter reads and writes");
  visit("driver", host.driver, "What the kernel driver asks of an adapter");
  visit("pcie", host.pcie, "The link between an adapter and its host");
  visit("link.faults", host.faults, "What goes wrong on the way of the packets that a host sends");
  visit("switch.faults", host.switchFaults, "What goes wrong on the way from the switch, if there is one, to a host");
  visit("adapter.device", host.adapter.device, "Which adapter it is");
  visit("adapter.transport", host.adapter.transport, "Queues, processing units, requester and responder");
  visit("adapter.completion", host.adapter.completion, "Writer of completion queue entries, and the arm rule");
  visit("adapter.event", host.adapter.event, "Event queues and interrupt vectors");
  visit("adapter.memory", host.adapter.memory, "Memory keys and protection domains");
  visit("adapter.cache", host.adapter.cache, "What of the structures in host memory fits on the chip");
  visit("adapter.command", host.adapter.command, "The command interface");
}

constexpr const char* kFlowSection = "flow";
constexpr const char* kFlowDoc = "One stream of messages between two hosts";

}  // namespace hca::config

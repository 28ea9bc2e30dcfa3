// A whole configuration, resolved: every value is known and in range.
#pragma once

#include <string>
#include <vector>

#include "models/network/network_config.h"
#include "models/network/switch_config.h"
#include "sim/config/host_config.h"
#include "sim/config/host_sections.h"
#include "sim/config/run_config.h"
#include "sim/drills/drill_config.h"
#include "sim/workload/dma_config.h"
#include "sim/workload/flow_config.h"

namespace hca::config {

struct NamedFlow {
  std::string name;
  sim::FlowConfig flow;
};

struct NamedDma {
  std::string name;
  sim::DmaConfig dma;
};

struct NamedDrill {
  std::string name;
  sim::DrillConfig drill;
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
  std::vector<NamedDrill> drills;   ///< likewise

  [[nodiscard]] bool hasSwitch() const { return host.count > 2 || fabricSwitch.always; }
};

/// The table of sections: calls `visit(name, section struct, doc)` for each. This is the one place that knows which
/// struct stands behind which section name; of the sections of hosts, adapters and ports host_sections.h is.
template <class ConfigType, class Visit>
void forEachGlobalSection(ConfigType& config, Visit&& visit) {
  visit("run", config.run, "The run as a whole");
  visit("host", config.host, "The hosts of the fabric");
  visit("link", config.link, "What connects the ports");
  visit("switch", config.fabricSwitch, "What connects more than two hosts");
}

constexpr const char* kOneHostSection = "host.N";
constexpr const char* kOneHostDoc = "One host, where it differs from [host]";
constexpr const char* kFlowSection = "flow";
constexpr const char* kFlowDoc = "One stream of messages between two hosts";

}  // namespace hca::config

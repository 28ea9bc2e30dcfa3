// The hosts from which a flow's messages come.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/workload/flow_config.h"

namespace hca::sim {

/// A list as the key `clients` has it: "1-8" or "1, 3, 5-7".
struct ClientHosts {
  std::vector<std::uint32_t> hosts;  ///< in the order of the list
  std::string problem;               ///< empty if the text could be read and names no host twice
};
[[nodiscard]] ClientHosts parseClientHosts(const std::string& text);

/// What the keys `clients` and `client` come to. Precondition: the rules of the flow hold (flow_rules.h).
[[nodiscard]] std::vector<std::uint32_t> clientHostsOf(const FlowConfig& flow);

}  // namespace hca::sim

// What the parts of a system counted.
#pragma once

#include "sim/report/result.h"
#include "sim/system/system.h"

namespace hca::sim {

/// Calls `visit(host, adapter)` for every adapter of `system`.
template <class Visit>
void forEachAdapter(const System& system, Visit&& visit) {
  for (std::size_t i = 0; i < system.hosts(); ++i) {
    const HostNode& node = system.host(i);
    for (std::uint32_t a = 0; a < node.adapters(); ++a) visit(node, node.adapter(a));
  }
}

/// Fills caches, pcie, drops, faults and switchPorts of `result`, of which `simulated` is set. Adapters and ports are
/// named where there are several.
void collectSystem(const System& system, report::Result& result);

}  // namespace hca::sim

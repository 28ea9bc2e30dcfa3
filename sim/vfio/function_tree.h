// The files by which programs find the functions of a host.
#pragma once

#include <cstdint>
#include <string>

#include "sim/system/host_node.h"

namespace hca::vfio {

/// Writes, below `folder`, what the kernel shows of each adapter of `host` that vfio-pci has: its folder in
/// sys/bus/pci/devices, its group in sys/kernel/iommu_groups, the group's file in dev/vfio. Throws
/// std::filesystem::filesystem_error.
void writeFunctionTree(const std::string& folder, sim::HostNode& host);

}  // namespace hca::vfio

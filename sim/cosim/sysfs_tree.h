// The files by which programs find and describe a device.
#pragma once

#include <string>

#include "sim/cosim/device_description.h"

namespace hca::cosim {

/// Writes class/infiniband and its relatives, as a kernel with this adapter shows them, below `folder`/sys, and the
/// device's folder below `folder`/dev. Throws std::filesystem::filesystem_error.
void writeSysfsTree(const std::string& folder, const DeviceDescription& device);
/// Writes those files of port `number` again that say what may change while a device is there.
void writePortFiles(const std::string& folder, const DeviceDescription& device, std::uint32_t number);

}  // namespace hca::cosim

// What a program can learn of an adapter without asking the adapter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/network/fabric_identity.h"
#include "sim/config/config.h"

namespace hca::cosim {

/// One row of a port's GID table.
struct GidEntry {
  network::Gid gid{};
  bool isRoceV2 = false;
};

struct DeviceDescription {
  std::string name = "mlx5_0";
  std::string netDevice;  ///< of RoCE: the Ethernet interface
  std::uint16_t vendorPart = 0;
  std::uint64_t nodeGuid = 0;
  network::PortIdentity port;
  bool isRoce = false;
  std::uint32_t mtu = 4096;  ///< bytes, of the link
  std::vector<GidEntry> gids;
  std::uint64_t firmwareMajor = 16, firmwareMinor = 35, firmwareSub = 1000;
};

/// Of the adapter of host `host`; the same values that the simulated system gives it.
[[nodiscard]] DeviceDescription describeDevice(const config::Config& config, HostIndex host);

}  // namespace hca::cosim

// What a program can learn of an adapter without asking the adapter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/adapter/clock/adapter_clock.h"
#include "models/network/fabric_identity.h"
#include "models/network/partition_keys.h"
#include "models/wire/port_speed.h"
#include "sim/config/config.h"

namespace hca::cosim {

/// One row of a port's GID table.
struct GidEntry {
  network::Gid gid{};
  bool isRoceV2 = false;
};

struct PortDescription {
  network::PortIdentity identity;
  wire::PortSpeed speed{};
  bool active = true;
  std::string netDevice;  ///< of RoCE: the Ethernet interface
  std::vector<GidEntry> gids;
  std::vector<std::uint16_t> partitionKeys;  ///< by index, as far as the configuration names them
};

struct DeviceDescription {
  std::uint32_t adapter = 0;  ///< of its host
  std::string name;
  std::uint16_t vendorPart = 0;
  std::uint64_t nodeGuid = 0;
  bool isRoce = false;
  std::uint32_t mtu = 4096;  ///< bytes, of the link
  adapter::AdapterClock clock{adapter::AdapterClock::Settings{}};
  std::vector<PortDescription> ports;
  std::uint64_t firmwareMajor = 16, firmwareMinor = 35, firmwareSub = 1000;

  [[nodiscard]] bool hasPort(std::uint64_t number) const { return number >= 1 && number <= ports.size(); }
  /// Port `number`, counted from 1.
  [[nodiscard]] const PortDescription& port(std::uint64_t number) const { return ports[number - 1]; }
  /// Rows of the table of each port.
  [[nodiscard]] std::size_t gidCount() const { return ports.front().gids.size(); }
  /// Room in that table.
  [[nodiscard]] std::uint32_t gidRoom() const { return isRoce ? 256 : 8; }
  /// Room in the table of partition keys.
  [[nodiscard]] std::uint16_t partitionRoom() const { return isRoce ? 1 : network::kMostPartitionKeys; }
};

/// Of the adapters of host `host`, in their order; the same values that the simulated system gives them.
[[nodiscard]] std::vector<DeviceDescription> describeDevices(const config::Config& config, HostIndex host);

}  // namespace hca::cosim

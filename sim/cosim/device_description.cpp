#include "sim/cosim/device_description.h"

#include <algorithm>

#include "sim/system/cabling.h"

namespace hca::cosim {
namespace {

PortDescription describePort(const config::Config& config, const network::PortIdentity& identity,
                             const adapter::PortConfig& own) {
  const bool isRoce = config.link.layer == network::LinkLayer::kRoceV2;
  PortDescription port;
  port.identity = identity;
  port.speed = wire::portSpeed(sim::cableRate(config, identity.host.value(), identity.port));
  port.partitionKeys = network::parsePartitionKeys(own.partitionKeys).value_or(std::vector{network::kDefaultPartition});
  port.gids.push_back({identity.gid, isRoce});
  if (!isRoce) return port;
  port.gids.push_back({identity.ipv4Gid, true});
  port.netDevice = "roce" + std::to_string(identity.port - 1);
  return port;
}

}  // namespace

std::vector<DeviceDescription> describeDevices(const config::Config& config, HostIndex host) {
  std::uint32_t mostPorts = 1;
  for (const config::HostSections& each : config.hosts) mostPorts = std::max(mostPorts, each.portCount());
  const network::FabricIdentity fabric(config.host.count, mostPorts, static_cast<std::uint8_t>(config.link.lmc));
  const config::HostSections& sections = config.hosts[host.value()];
  std::vector<DeviceDescription> devices;
  for (std::uint32_t number = 0; number < sections.host.adapters; ++number) {
    const adapter::HcaConfig& adapter = sections.adapterSections(number).adapter;
    const adapter::DeviceConfig& own = adapter.device;
    DeviceDescription device;
    device.adapter = number;
    device.name = "mlx5_" + std::to_string(number);
    device.vendorPart = static_cast<std::uint16_t>(own.deviceId);
    device.isRoce = config.link.layer == network::LinkLayer::kRoceV2;
    device.mtu = static_cast<std::uint32_t>(config.link.mtu.count());
    device.clock = adapter::AdapterClock(adapter.completion.timestamps());
    for (std::uint32_t port = 0; port < own.ports; ++port) {
      device.ports.push_back(describePort(config, fabric.port(host, sections.firstPort(number) + port),
                                          sections.adapterSections(number).portSections(port + 1).port));
    }
    device.nodeGuid = device.ports.front().identity.guid;
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace hca::cosim

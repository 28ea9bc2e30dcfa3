#include "sim/cosim/device_description.h"

namespace hca::cosim {

DeviceDescription describeDevice(const config::Config& config, HostIndex host) {
  const network::FabricIdentity fabric(config.host.count, 1);
  DeviceDescription device;
  device.port = fabric.port(host, 1);
  device.nodeGuid = device.port.guid;
  device.vendorPart = static_cast<std::uint16_t>(config.hosts[host.value()].adapter.device.deviceId);
  device.isRoce = config.link.layer == network::LinkLayer::kRoceV2;
  device.mtu = static_cast<std::uint32_t>(config.link.mtu.count());
  device.gids.push_back({device.port.gid, device.isRoce});
  if (device.isRoce) device.gids.push_back({device.port.ipv4Gid, true});
  if (device.isRoce) device.netDevice = "roce0";
  return device;
}

}  // namespace hca::cosim

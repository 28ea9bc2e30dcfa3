#include "models/adapter/command/port_report.h"

#include "models/wire/management_datagram.h"

namespace hca::adapter {
namespace {

namespace capability = wire::port_capability;

constexpr std::size_t kSmallestGidTable = 8;
constexpr std::size_t kSmallestPkeyTable = 128;
// PortIdentity::speedCode.
constexpr std::uint16_t kHdrSpeed = 0x40;
constexpr std::uint16_t kNdrSpeed = 0x80;

}  // namespace

std::uint32_t capabilityMaskOf(const CommandDevice& device, std::size_t portIndex) {
  const std::uint32_t own = capability::kAutomaticMigration | capability::kSystemImageGuid |
                            capability::kExtendedSpeeds | capability::kClientReregistration;
  const bool second = capabilityMask2Of(device.identity.ports[portIndex]) != 0;
  return own | (second ? capability::kCapabilityMask2 : 0U) | device.portCapabilities[portIndex];
}

std::uint16_t capabilityMask2Of(const PortIdentity& port) {
  if (port.speedCode == kHdrSpeed) return wire::port_capability2::kHdr;
  return port.speedCode == kNdrSpeed ? wire::port_capability2::kHdr | wire::port_capability2::kNdr : 0;
}

std::uint32_t settablePortCapabilities() {
  return capability::kSubnetManager | capability::kCommunicationManagement | capability::kSnmpTunneling |
         capability::kDeviceManagement | capability::kVendorClass;
}

std::size_t gidTableSize(const CommandDevice& device) { return kSmallestGidTable << device.capabilities.gidTableCode; }

std::size_t pkeyTableSize(const CommandDevice& device) {
  return kSmallestPkeyTable << device.capabilities.pkeyTableCode;
}

}  // namespace hca::adapter

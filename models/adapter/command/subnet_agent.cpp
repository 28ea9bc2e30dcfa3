#include "models/adapter/command/subnet_agent.h"

#include <algorithm>

#include "models/adapter/command/port_report.h"
#include "models/wire/management_datagram.h"

namespace hca::adapter {
namespace {

using wire::ManagementClass;
using wire::ManagementDatagram;
using wire::ManagementMethod;
using wire::ManagementStatus;
using wire::SubnetAttribute;

constexpr std::uint32_t kVendorId = 0x02C9;
constexpr std::size_t kGuidsPerBlock = 8;
constexpr std::size_t kKeysPerBlock = 32;
constexpr unsigned kHalf = 4;           // bits
constexpr std::uint8_t kDataRate = 4;   // LinkSpeed QDR: beside an extended speed
constexpr std::uint8_t kDataRates = 7;  // SDR to QDR: no set of speeds lacks those below its fastest

std::uint8_t halves(unsigned high, unsigned low) { return static_cast<std::uint8_t>((high << kHalf) | low); }

// PortInfo's codes: 1 = 256 bytes ... 5 = 4096.
std::uint8_t mtuCode(std::uint32_t bytes) {
  std::uint8_t code = 1;
  for (std::uint32_t mtu = 256; mtu < bytes; mtu *= 2) ++code;
  return code;
}

// PortInfo's codes 1 = VL0, 2 = VL0-1, 3 = VL0-3, 4 = VL0-7; the register's are bits.
std::uint8_t laneCode(std::uint8_t lanes) {
  std::uint8_t code = 1;
  for (unsigned bits = 1; bits < lanes; bits *= 2) ++code;
  return code;
}

// LinkSpeedExt: 1 FDR, 2 EDR, 4 HDR, 8 NDR, which is PortIdentity::speedCode without its slower bits.
std::uint8_t extendedSpeed(std::uint16_t speedCode) { return static_cast<std::uint8_t>(speedCode >> kHalf); }

std::uint16_t code(ManagementStatus status) { return static_cast<std::uint16_t>(status); }

bool isSubnetClass(ByteView request) {
  const auto wanted = static_cast<ManagementClass>(ManagementDatagram::Class::get(request));
  return wanted == ManagementClass::kSubnet || wanted == ManagementClass::kSubnetDirected;
}

}  // namespace

void SubnetAgent::answer(ByteView request, std::uint8_t port, MutableByteView response) const {
  std::copy(request.begin(), request.end(), response.data());
  const auto method = static_cast<ManagementMethod>(ManagementDatagram::Method::get(request));
  ManagementDatagram::Method::set(response, static_cast<std::uint8_t>(ManagementMethod::kGetResponse));
  const bool isVersionKnown = ManagementDatagram::BaseVersion::get(request) == ManagementDatagram::kBaseVersion &&
                              ManagementDatagram::ClassVersion::get(request) == ManagementDatagram::kBaseVersion;
  std::uint16_t status = code(ManagementStatus::kBadVersion);
  if (isVersionKnown && isSubnetClass(request)) {
    const MutableByteView data = response.subview(ManagementDatagram::kData, ManagementDatagram::kDataSize);
    if (method == ManagementMethod::kGet) {
      std::fill_n(data.data(), data.size(), std::uint8_t{0});
      status = get(request, port, data);
    } else {
      const bool known = method == ManagementMethod::kSet;
      status = code(known ? ManagementStatus::kAttributeUnsupported : ManagementStatus::kMethodUnsupported);
    }
  }
  ManagementDatagram::Status::set(response, status);
}

std::uint16_t SubnetAgent::get(ByteView request, std::uint8_t port, MutableByteView data) const {
  const std::uint32_t modifier = ManagementDatagram::AttributeModifier::get(request);
  switch (static_cast<SubnetAttribute>(ManagementDatagram::Attribute::get(request))) {
    case SubnetAttribute::kNodeDescription:
      std::copy(device_.nodeDescription.begin(), device_.nodeDescription.end(), data.data());
      return code(ManagementStatus::kOk);
    case SubnetAttribute::kNodeInfo:
      fillNodeInfo(port, data);
      return code(ManagementStatus::kOk);
    case SubnetAttribute::kGuidInfo:
      if (modifier >= gidTableSize(device_) / kGuidsPerBlock) return code(ManagementStatus::kBadValue);
      fillGuids(port, modifier, data);
      return code(ManagementStatus::kOk);
    case SubnetAttribute::kPortInfo:
      if (modifier > device_.identity.ports.size()) return code(ManagementStatus::kBadValue);
      fillPortInfo(modifier == 0 ? port : static_cast<std::uint8_t>(modifier), data);
      return code(ManagementStatus::kOk);
    case SubnetAttribute::kPartitionKeys:
      if (modifier >= pkeyTableSize(device_) / kKeysPerBlock) return code(ManagementStatus::kBadValue);
      fillPartitionKeys(port, modifier, data);
      return code(ManagementStatus::kOk);
  }
  return code(ManagementStatus::kAttributeUnsupported);
}

void SubnetAgent::fillNodeInfo(std::uint8_t port, MutableByteView data) const {
  using Info = wire::NodeInfo;
  constexpr unsigned kPortShift = 24;
  const AdapterIdentity& identity = device_.identity;
  Info::BaseVersion::set(data, ManagementDatagram::kBaseVersion);
  Info::ClassVersion::set(data, ManagementDatagram::kBaseVersion);
  Info::NodeType::set(data, Info::kChannelAdapter);
  Info::NumPorts::set(data, static_cast<std::uint8_t>(identity.ports.size()));
  Info::SystemImageGuid::set(data, identity.systemImageGuid);
  Info::NodeGuid::set(data, identity.nodeGuid);
  Info::PortGuid::set(data, portOf(port).guid);
  Info::PartitionCapacity::set(data, static_cast<std::uint16_t>(pkeyTableSize(device_)));
  Info::DeviceId::set(data, identity.deviceId);
  Info::LocalPortAndVendor::set(data, (std::uint32_t{port} << kPortShift) | kVendorId);
}

// The lower half of each GID; the upper one is the subnet's prefix.
void SubnetAgent::fillGuids(std::uint8_t port, std::uint32_t block, MutableByteView data) const {
  const std::vector<network::Gid>& gids = portOf(port).gids;
  constexpr std::size_t kGuid = sizeof(std::uint64_t);
  for (std::size_t n = 0; n < kGuidsPerBlock && block * kGuidsPerBlock + n < gids.size(); ++n) {
    std::copy_n(gids[block * kGuidsPerBlock + n].begin() + kGuid, kGuid, data.data() + n * kGuid);
  }
}

void SubnetAgent::fillPortInfo(std::uint8_t port, MutableByteView data) const {
  using Info = wire::PortInfo;
  const PortIdentity& identity = portOf(port);
  const PortViolations violations = device_.violations(port);
  if (!identity.gids.empty()) std::copy_n(identity.gids[0].begin(), sizeof(std::uint64_t), data.data() + 8);
  Info::Lid::set(data, identity.lid.value());
  Info::SubnetManagerLid::set(data, identity.subnetManagerLid.value());
  Info::CapabilityMask::set(data, capabilityMaskOf(device_, port - 1U));
  Info::LocalPort::set(data, port);
  const auto width = static_cast<std::uint8_t>(identity.widthCode);
  Info::WidthEnabled::set(data, width);
  Info::WidthSupported::set(data, width);
  Info::WidthActive::set(data, identity.active ? width : 0);
  Info::SpeedSupportedAndState::set(data, halves(kDataRates, static_cast<unsigned>(stateOf(identity))));
  Info::PhysicalStateAndDefault::set(data, halves(static_cast<unsigned>(physicalStateOf(identity)),
                                                  static_cast<unsigned>(PortPhysicalState::kPolling)));
  Info::Lmc::set(data, identity.lmc);
  Info::SpeedActiveAndEnabled::set(data, halves(identity.active ? kDataRate : 0U, kDataRates));
  Info::MtuAndManagerLevel::set(data, halves(mtuCode(identity.mtu), 0));
  Info::VirtualLanes::set(data, halves(laneCode(identity.virtualLanes), 0));
  Info::MtuCapability::set(data, mtuCode(identity.mtu));
  Info::OperationalLanes::set(data, halves(laneCode(identity.virtualLanes), 0));
  Info::PkeyViolations::set(data, violations.partition());
  Info::QkeyViolations::set(data, violations.queueKey());
  Info::GuidCapacity::set(data, static_cast<std::uint8_t>(gidTableSize(device_)));
  Info::SubnetTimeout::set(data, kSubnetTimeout);
  Info::CapabilityMask2::set(data, capabilityMask2Of(identity));
  const std::uint8_t speed = extendedSpeed(identity.speedCode);
  Info::ExtendedSpeed::set(data, halves(identity.active ? speed : 0U, speed));
  Info::ExtendedSpeedEnabled::set(data, speed);
}

void SubnetAgent::fillPartitionKeys(std::uint8_t port, std::uint32_t block, MutableByteView data) const {
  const std::vector<std::uint16_t>& keys = portOf(port).pkeys;
  for (std::size_t n = 0; n < kKeysPerBlock && block * kKeysPerBlock + n < keys.size(); ++n) {
    wire::storeBigEndian(data.data() + n * sizeof(std::uint16_t), keys[block * kKeysPerBlock + n]);
  }
}

}  // namespace hca::adapter

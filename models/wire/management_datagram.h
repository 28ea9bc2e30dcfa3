// Management datagrams of subnet management: what MAD_IFC carries.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/base/byte_view.h"
#include "models/wire/endian.h"

namespace hca::wire {

/// A big-endian number of type `Value` at byte kOffset.
template <std::size_t kOffset, class Value>
struct ByteField {
  static constexpr std::size_t kByteOffset = kOffset;
  [[nodiscard]] static Value get(ByteView bytes) { return loadBigEndian<Value>(bytes.data() + kOffset); }
  static void set(MutableByteView bytes, Value value) { storeBigEndian(bytes.data() + kOffset, value); }
};

/// InfiniBand volume 1, 13.4.3 (common header) and 14.2.1 (of subnet management). 256 bytes.
struct ManagementDatagram {
  static constexpr std::size_t kSize = 256;
  static constexpr std::size_t kData = 64;  ///< of subnet management; 64 bytes
  static constexpr std::size_t kDataSize = 64;
  static constexpr std::uint8_t kBaseVersion = 1;

  using BaseVersion = ByteField<0, std::uint8_t>;
  using Class = ByteField<1, std::uint8_t>;
  using ClassVersion = ByteField<2, std::uint8_t>;
  using Method = ByteField<3, std::uint8_t>;
  using Status = ByteField<4, std::uint16_t>;
  using Attribute = ByteField<16, std::uint16_t>;
  using AttributeModifier = ByteField<20, std::uint32_t>;
};

/// InfiniBand volume 1, table 110 (management class values).
enum class ManagementClass : std::uint8_t { kSubnet = 0x01, kPerformance = 0x04, kSubnetDirected = 0x81 };

/// InfiniBand volume 1, 13.4.5.
enum class ManagementMethod : std::uint8_t { kGet = 0x01, kSet = 0x02, kTrapRepress = 0x07, kGetResponse = 0x81 };

/// InfiniBand volume 1, 13.4.7.
enum class ManagementStatus : std::uint16_t {
  kOk = 0x00,
  kBadVersion = 0x04,  ///< or class
  kMethodUnsupported = 0x08,
  kAttributeUnsupported = 0x0C,
  kBadValue = 0x1C,
};

/// InfiniBand volume 1, 14.2.5.
enum class SubnetAttribute : std::uint16_t {
  kNodeDescription = 0x0010,
  kNodeInfo = 0x0011,
  kGuidInfo = 0x0014,
  kPortInfo = 0x0015,
  kPartitionKeys = 0x0016,
};

/// InfiniBand volume 1, 14.2.5.3.
struct NodeInfo {
  static constexpr std::uint8_t kChannelAdapter = 1;
  using BaseVersion = ByteField<0, std::uint8_t>;
  using ClassVersion = ByteField<1, std::uint8_t>;
  using NodeType = ByteField<2, std::uint8_t>;
  using NumPorts = ByteField<3, std::uint8_t>;
  using SystemImageGuid = ByteField<4, std::uint64_t>;
  using NodeGuid = ByteField<12, std::uint64_t>;
  using PortGuid = ByteField<20, std::uint64_t>;
  using PartitionCapacity = ByteField<28, std::uint16_t>;
  using DeviceId = ByteField<30, std::uint16_t>;
  using Revision = ByteField<32, std::uint32_t>;
  using LocalPortAndVendor = ByteField<36, std::uint32_t>;  ///< port[31:24], vendor[23:0]
};

/// InfiniBand volume 1, 14.2.5.6. Halves of a byte are named High and Low.
struct PortInfo {
  using GidPrefix = ByteField<8, std::uint64_t>;
  using Lid = ByteField<16, std::uint16_t>;
  using SubnetManagerLid = ByteField<18, std::uint16_t>;
  using CapabilityMask = ByteField<20, std::uint32_t>;
  using LocalPort = ByteField<28, std::uint8_t>;
  using WidthEnabled = ByteField<29, std::uint8_t>;
  using WidthSupported = ByteField<30, std::uint8_t>;
  using WidthActive = ByteField<31, std::uint8_t>;
  using SpeedSupportedAndState = ByteField<32, std::uint8_t>;
  using PhysicalStateAndDefault = ByteField<33, std::uint8_t>;
  using Lmc = ByteField<34, std::uint8_t>;
  using SpeedActiveAndEnabled = ByteField<35, std::uint8_t>;
  using MtuAndManagerLevel = ByteField<36, std::uint8_t>;
  using VirtualLanes = ByteField<37, std::uint8_t>;  ///< capability in the high half
  using MtuCapability = ByteField<41, std::uint8_t>;
  using OperationalLanes = ByteField<43, std::uint8_t>;  ///< in the high half
  using PkeyViolations = ByteField<46, std::uint16_t>;
  using QkeyViolations = ByteField<48, std::uint16_t>;
  using GuidCapacity = ByteField<50, std::uint8_t>;
  using SubnetTimeout = ByteField<51, std::uint8_t>;
  using CapabilityMask2 = ByteField<60, std::uint16_t>;
  using ExtendedSpeed = ByteField<62, std::uint8_t>;  ///< active in the high half, supported in the low
  using ExtendedSpeedEnabled = ByteField<63, std::uint8_t>;
};

/// Bits of PortInfo's CapabilityMask. InfiniBand volume 1, 14.2.5.6; Linux include/rdma/ib_verbs.h, enum
/// ib_port_capability_mask_bits.
namespace port_capability {
constexpr std::uint32_t kSubnetManager = 1U << 1;
constexpr std::uint32_t kAutomaticMigration = 1U << 5;
constexpr std::uint32_t kSystemImageGuid = 1U << 11;
constexpr std::uint32_t kExtendedSpeeds = 1U << 14;
constexpr std::uint32_t kCapabilityMask2 = 1U << 15;
constexpr std::uint32_t kCommunicationManagement = 1U << 16;
constexpr std::uint32_t kSnmpTunneling = 1U << 17;
constexpr std::uint32_t kDeviceManagement = 1U << 19;
constexpr std::uint32_t kVendorClass = 1U << 20;
constexpr std::uint32_t kClientReregistration = 1U << 25;
}  // namespace port_capability

/// Bits of CapabilityMask2. Linux include/rdma/ib_verbs.h, enum ib_port_capability_mask2_bits.
namespace port_capability2 {
constexpr std::uint16_t kHdr = 1U << 5;
constexpr std::uint16_t kNdr = 1U << 10;
}  // namespace port_capability2

}  // namespace hca::wire

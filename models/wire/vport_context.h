// An InfiniBand port as the driver sees it (hca_vport_context), and its port registers.
#pragma once

#include "models/wire/context_field.h"

namespace hca::wire {

/// 512 bytes. Linux include/linux/mlx5/mlx5_ifc.h, struct mlx5_ifc_hca_vport_context_bits.
struct HcaVportContext {
  static constexpr std::size_t kSize = 0x200;

  using FieldSelect = ContextField<0x00, 31, 0>;  ///< 1 port GUID, 2 node GUID, 4 state policy
  using SmVirtualizationAware = ContextField<0x20, 31, 31>;
  using HasSmi = ContextField<0x20, 30, 30>;
  using HasRaw = ContextField<0x20, 29, 29>;
  using GrhRequired = ContextField<0x20, 28, 28>;
  using PortPhysicalState = ContextField<0x20, 15, 12>;  ///< 5: link up
  using StatePolicy = ContextField<0x20, 11, 8>;
  using PortState = ContextField<0x20, 7, 4>;  ///< 1 down, 2 initialise, 3 armed, 4 active
  using VportState = ContextField<0x20, 3, 0>;
  using SystemImageGuid = ContextWord64<0x28>;
  using PortGuid = ContextWord64<0x30>;
  using NodeGuid = ContextWord64<0x38>;
  using CapabilityMask1 = ContextField<0x40, 31, 0>;
  using CapabilityMask1Select = ContextField<0x44, 31, 0>;
  using CapabilityMask2 = ContextField<0x48, 31, 0>;
  using CapabilityMask2Select = ContextField<0x4C, 31, 0>;
  using Lid = ContextField<0x60, 31, 16>;
  using InitTypeReply = ContextField<0x60, 11, 8>;
  using Lmc = ContextField<0x60, 7, 5>;
  using SubnetTimeout = ContextField<0x60, 4, 0>;
  using SmLid = ContextField<0x64, 31, 16>;
  using SmServiceLevel = ContextField<0x64, 15, 12>;
  using QkeyViolations = ContextField<0x68, 31, 16>;
  using PkeyViolations = ContextField<0x68, 15, 0>;
};

/// Register numbers of ACCESS_REG. Linux include/linux/mlx5/driver.h, MLX5_REG_*.
enum class RegisterId : std::uint16_t {
  kPortMtu = 0x5003,
  kPortTypeSpeed = 0x5004,
  kPortAdministration = 0x5006,
  kPortCounters = 0x5008,
  kPortVirtualLanes = 0x500F,
  kPortCapabilityMask = 0x507F,
  kNodeDescription = 0x6001,
  kHostEndianness = 0x7004,
  kDefaultTimeouts = 0xC00E,
};

/// kPortMtu. struct mlx5_ifc_pmtu_reg_bits.
struct PortMtuRegister {
  static constexpr std::size_t kSize = 16;
  using LocalPort = ContextField<0x00, 23, 16>;
  using MaxMtu = ContextField<0x04, 31, 16>;    ///< bytes
  using AdminMtu = ContextField<0x08, 31, 16>;  ///< bytes
  using OperationalMtu = ContextField<0x0C, 31, 16>;
};

/// kPortTypeSpeed. struct mlx5_ifc_ptys_reg_bits; width and protocol codes: drivers/infiniband/hw/mlx5/main.c,
/// translate_active_width, and core/port.c, mlx5_query_ib_port_oper.
struct PortTypeSpeedRegister {
  static constexpr std::size_t kSize = 64;
  using LocalPort = ContextField<0x00, 23, 16>;
  using ProtocolMask = ContextField<0x00, 2, 0>;  ///< 1 InfiniBand, 4 Ethernet
  using EthernetCapability = ContextField<0x0C, 31, 0>;
  using IbWidthCapability = ContextField<0x10, 31, 16>;    ///< bits: 1 = 1x, 2 = 2x, 4 = 4x, 8 = 8x, 16 = 12x
  using IbProtocolCapability = ContextField<0x10, 15, 0>;  ///< bits: SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR
  using EthernetAdmin = ContextField<0x18, 31, 0>;
  using IbWidthAdmin = ContextField<0x1C, 31, 16>;
  using IbProtocolAdmin = ContextField<0x1C, 15, 0>;
  using EthernetOperational = ContextField<0x24, 31, 0>;
  using IbWidthOperational = ContextField<0x28, 31, 16>;
  using IbProtocolOperational = ContextField<0x28, 15, 0>;
  using ConnectorType = ContextField<0x2C, 3, 0>;
};

/// kPortVirtualLanes. struct mlx5_ifc_pvlc_reg_bits; values: 1 = VL0, 2 = VL0-1, 4 = VL0-3, 8 = VL0-7.
struct PortVirtualLanesRegister {
  static constexpr std::size_t kSize = 16;
  using LocalPort = ContextField<0x00, 23, 16>;
  using HardwareCapability = ContextField<0x04, 3, 0>;
  using Admin = ContextField<0x08, 3, 0>;
  using Operational = ContextField<0x0C, 3, 0>;
};

/// kPortAdministration. struct mlx5_ifc_paos_reg_bits.
struct PortAdministrationRegister {
  static constexpr std::size_t kSize = 16;
  using LocalPort = ContextField<0x00, 23, 16>;
  using AdminStatus = ContextField<0x00, 11, 8>;       ///< 1 up, 2 down
  using OperationalStatus = ContextField<0x00, 3, 0>;  ///< 1 up, 2 down
};

/// kDefaultTimeouts: each a DriverTimeout. struct mlx5_ifc_dtor_reg_bits.
struct DefaultTimeoutsRegister {
  static constexpr std::size_t kSize = 64;
  using PcieToggle = ContextField<0x04, 31, 0>;
  using HealthPoll = ContextField<0x14, 31, 0>;
  using FullDump = ContextField<0x18, 31, 0>;
  using FirmwareReset = ContextField<0x1C, 31, 0>;
  using FlushOnError = ContextField<0x20, 31, 0>;
  using PciSyncUpdate = ContextField<0x24, 31, 0>;
  using Teardown = ContextField<0x28, 31, 0>;
  using Reactivate = ContextField<0x2C, 31, 0>;
  using ReclaimPages = ContextField<0x30, 31, 0>;
  using ReclaimVirtualPages = ContextField<0x34, 31, 0>;
};

/// kNodeDescription: a text, zero-filled. struct mlx5_reg_node_desc.
struct NodeDescriptionRegister {
  static constexpr std::size_t kSize = 64;
  using Text = ContextBlock<0x00, 64>;
};

/// kHostEndianness: 0 little, 0x80 big. struct mlx5_reg_host_endianness.
struct HostEndiannessRegister {
  static constexpr std::size_t kSize = 16;
  using Endianness = ContextField<0x00, 31, 24>;
};

}  // namespace hca::wire

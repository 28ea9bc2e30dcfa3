// What an adapter says about itself: the general capabilities (cmd_hca_cap).
#pragma once

#include "models/wire/context_field.h"

namespace hca::wire {

/// Which set of capabilities: operation modifier [15:1] of QUERY_HCA_CAP and SET_HCA_CAP. Linux
/// include/linux/mlx5/device.h, enum mlx5_cap_type.
enum class CapabilityType : std::uint8_t {
  kGeneral = 0,
  kEthernet = 1,
  kOnDemandPaging = 2,
  kAtomic = 3,
  kRoce = 4,
  kDeviceMemory = 15,
};

/// 256 bytes, sent in a field of 4096. Fields that no InfiniBand port needs are left out.
/// Linux include/linux/mlx5/mlx5_ifc.h, struct mlx5_ifc_cmd_hca_cap_bits.
struct HcaCapabilities {
  static constexpr std::size_t kSize = 0x100;
  /// Bytes that a capability set takes in a command (union hca_cap_union).
  static constexpr std::size_t kUnionSize = 0x1000;

  using LogMaxSrqSize = ContextField<0x10, 31, 24>;
  using LogMaxQpSize = ContextField<0x10, 23, 16>;
  using LogMaxQp = ContextField<0x10, 4, 0>;
  using LogMaxSrq = ContextField<0x14, 20, 16>;
  using LogMaxCqSize = ContextField<0x18, 23, 16>;
  using RelaxedOrderingWriteByRequest = ContextField<0x18, 15, 15>;  ///< relaxed_ordering_write_umr
  using RelaxedOrderingReadByRequest = ContextField<0x18, 14, 14>;   ///< relaxed_ordering_read_umr
  using LogMaxCq = ContextField<0x18, 4, 0>;
  using LogMaxEqSize = ContextField<0x1C, 31, 24>;
  using RelaxedOrderingWrite = ContextField<0x1C, 23, 23>;
  using RelaxedOrderingRead = ContextField<0x1C, 22, 22>;
  using LogMaxMemoryKey = ContextField<0x1C, 21, 16>;
  using LogMaxEq = ContextField<0x1C, 3, 0>;
  using MaxIndirection = ContextField<0x20, 31, 24>;
  using FixedBufferSize = ContextField<0x20, 23, 23>;
  using LogMaxMemoryRegion = ContextField<0x20, 22, 16>;
  using ForceTeardown = ContextField<0x20, 15, 15>;
  using FastTeardown = ContextField<0x1C, 4, 4>;
  using LogMaxBsfList = ContextField<0x20, 13, 8>;
  using ExtendedTranslationOffset = ContextField<0x20, 7, 7>;  ///< umr_extended_translation_offset
  using NullMemoryKey = ContextField<0x20, 6, 6>;
  using LogMaxKlmList = ContextField<0x20, 5, 0>;
  using LogMaxRequesterReads = ContextField<0x28, 21, 16>;  ///< log_max_ra_req_qp
  using LogMaxResponderReads = ContextField<0x28, 5, 0>;    ///< log_max_ra_res_qp
  using EndPadding = ContextField<0x2C, 31, 31>;
  using StartPadding = ContextField<0x2C, 28, 28>;
  using CacheLine128 = ContextField<0x2C, 27, 27>;
  using GidTableSize = ContextField<0x2C, 15, 0>;  ///< code: 8 << n entries
  using OutOfSequenceCount = ContextField<0x30, 31, 31>;
  using VportCounters = ContextField<0x30, 30, 30>;
  using RetransmissionCounters = ContextField<0x30, 29, 29>;
  using MaxQueueCounters = ContextField<0x30, 25, 16>;
  using PkeyTableSize = ContextField<0x30, 15, 0>;  ///< code: 128 << n entries
  using VportGroupManager = ContextField<0x34, 31, 31>;
  using VhcaGroupManager = ContextField<0x34, 30, 30>;
  using IbVirtualization = ContextField<0x34, 29, 29>;  ///< ib_virt: vport commands in place of MADs
  using EthernetVirtualization = ContextField<0x34, 28, 28>;
  using NicFlowTable = ContextField<0x34, 25, 25>;
  using EswitchManager = ContextField<0x34, 24, 24>;
  using DeviceMemory = ContextField<0x34, 23, 23>;
  using McamRegister = ContextField<0x34, 22, 22>;
  using PcamRegister = ContextField<0x34, 21, 21>;
  using LocalAckDelay = ContextField<0x34, 20, 16>;
  using PortModuleEvent = ContextField<0x34, 15, 15>;
  using PortType = ContextField<0x34, 9, 8>;  ///< 0 InfiniBand, 1 Ethernet
  using NumPorts = ContextField<0x34, 7, 0>;
  using LogMaxMessage = ContextField<0x38, 28, 24>;
  using MaxTrafficClass = ContextField<0x38, 19, 16>;
  using StaticRateSupport = ContextField<0x3C, 31, 16>;
  using CqeVersion = ContextField<0x3C, 3, 0>;
  using EthernetStriding = ContextField<0x40, 30, 30>;  ///< striding_rq
  using CompactAddressVector = ContextField<0x40, 31, 31>;
  using UmrModifyEntitySizeDisabled = ContextField<0x40, 24, 24>;
  using UmrModifyAtomicDisabled = ContextField<0x40, 23, 23>;
  using UmrIndirectKeyDisabled = ContextField<0x40, 22, 22>;
  using UmrFence = ContextField<0x40, 21, 20>;
  using CommandChecksum = ContextField<0x40, 15, 14>;
  using SignatureErrorCqe = ContextField<0x40, 13, 13>;
  using WqeSignature = ContextField<0x40, 11, 11>;
  using ScatterDataToCqe = ContextField<0x40, 10, 10>;
  using SignatureHandover = ContextField<0x40, 8, 8>;
  using Dct = ContextField<0x40, 5, 5>;
  using QualityOfService = ContextField<0x40, 4, 4>;
  using EthernetOffloads = ContextField<0x40, 3, 3>;
  using Roce = ContextField<0x40, 2, 2>;
  using Atomic = ContextField<0x40, 1, 1>;
  using CqIgnoreOverrun = ContextField<0x44, 31, 31>;
  using CqResize = ContextField<0x44, 30, 30>;
  using CqModeration = ContextField<0x44, 29, 29>;
  using CqPeriodModeModify = ContextField<0x44, 28, 28>;
  using CqEqRemap = ContextField<0x44, 25, 25>;
  using OnDemandPaging = ContextField<0x44, 24, 24>;
  using BlockLoopbackMulticast = ContextField<0x44, 23, 23>;
  using SolicitedBreaksModeration = ContextField<0x44, 21, 21>;
  using CqPeriodFromCqe = ContextField<0x44, 20, 20>;
  using CrossChannel = ContextField<0x44, 19, 19>;
  using AutomaticPathMigration = ContextField<0x44, 17, 17>;
  using InvalidateCarriesLength = ContextField<0x44, 14, 14>;  ///< imaicl: memory windows of type 2B
  using QkeyViolationCounter = ContextField<0x44, 9, 9>;
  using PkeyViolationCounter = ContextField<0x44, 8, 8>;
  using SetDethSourceQp = ContextField<0x44, 7, 7>;
  using Xrc = ContextField<0x44, 3, 3>;
  using Ud = ContextField<0x44, 2, 2>;
  using Uc = ContextField<0x44, 1, 1>;
  using Rc = ContextField<0x44, 0, 0>;
  using Uar4k = ContextField<0x48, 31, 31>;
  using UarSize = ContextField<0x48, 21, 16>;
  using UmemUid0 = ContextField<0x48, 13, 13>;  ///< CREATE_UMEM for whoever drives the function
  using LogPageSize = ContextField<0x48, 7, 0>;
  using BlueFlame = ContextField<0x4C, 31, 31>;
  using DriverVersion = ContextField<0x4C, 30, 30>;
  using LogBlueFlameRegisterSize = ContextField<0x4C, 20, 16>;
  using MaxSendWqeSize = ContextField<0x50, 15, 0>;     ///< bytes
  using MaxReceiveWqeSize = ContextField<0x54, 15, 0>;  ///< bytes
  using MaxMulticastQps = ContextField<0x5C, 24, 0>;
  using LogMaxMulticastGroups = ContextField<0x60, 7, 0>;
  using LogMaxTransportDomain = ContextField<0x64, 28, 24>;
  using LogMaxPd = ContextField<0x64, 20, 16>;
  using LogMaxXrcd = ContextField<0x64, 4, 0>;
  using LogMaxRq = ContextField<0x6C, 28, 24>;
  using LogMaxSq = ContextField<0x6C, 20, 16>;
  using LogMaxTir = ContextField<0x6C, 12, 8>;
  using LogMaxTis = ContextField<0x6C, 4, 0>;
  using BasicCyclicReceive = ContextField<0x70, 31, 31>;
  using LogMaxRmp = ContextField<0x70, 28, 24>;
  using LogMaxRqt = ContextField<0x70, 20, 16>;
  using LogMaxRqtSize = ContextField<0x70, 12, 8>;
  using LogMaxWorkQueueSize = ContextField<0x78, 4, 0>;
  using SendQueueTimestampFormat = ContextField<0x88, 31, 30>;
  using ReceiveQueueTimestampFormat = ContextField<0x88, 29, 28>;
  using MaxNumEqs = ContextField<0x8C, 15, 0>;
  using LogUarPageSize = ContextField<0x90, 15, 0>;  ///< minus 12
  using DeviceFrequencyMhz = ContextField<0x98, 31, 0>;
  using DeviceFrequencyKhz = ContextField<0x9C, 31, 0>;
  using UarsPerPage = ContextField<0xA4, 31, 0>;
  using EnhancedCqeCompression = ContextField<0xB4, 15, 15>;
  /// Where DPDK and UCX look for the same (DPDK drivers/common/mlx5/mlx5_prm.h).
  using EnhancedCqeCompressionToo = ContextField<0xB4, 4, 4>;
  using MiniCqeStrideIndex = ContextField<0xB4, 3, 3>;
  using Cqe128Always = ContextField<0xB4, 2, 2>;
  using CqeCompression128 = ContextField<0xB4, 1, 1>;
  using CqeCompression = ContextField<0xB4, 0, 0>;
  using CqeCompressionTimeout = ContextField<0xB8, 31, 16>;
  using CqeCompressionMaxNum = ContextField<0xB8, 15, 0>;
  using TagMatching = ContextField<0xBC, 15, 15>;
  using RendezvousRc = ContextField<0xBC, 14, 14>;
  using LogTagListSize = ContextField<0xBC, 12, 8>;
  using LogMaxXrq = ContextField<0xBC, 4, 0>;
};

/// What atomic operations can do (kAtomic). struct mlx5_ifc_atomic_caps_bits; values: Linux
/// include/linux/mlx5/device.h, MLX5_ATOMIC_OPS_* and MLX5_ATOMIC_REQ_MODE_*.
struct AtomicCapabilities {
  static constexpr std::size_t kSize = 0x100;
  using RequestByteOrder = ContextField<0x08, 31, 30>;  ///< of 8 bytes: 0 big-endian, 1 the host's
  using HostByteOrderSupported = ContextField<0x08, 25, 25>;
  using Operations = ContextField<0x10, 15, 0>;
  static constexpr std::uint32_t kCompareSwap = 1;
  static constexpr std::uint32_t kFetchAdd = 2;
  using QpSizes = ContextField<0x14, 15, 0>;  ///< bits: sizes in bytes
  using DcSizes = ContextField<0x18, 15, 0>;
};

/// What the Ethernet queues offer (kEthernet). struct mlx5_ifc_per_protocol_networking_offload_caps_bits.
struct EthernetCapabilities {
  static constexpr std::size_t kSize = 0x20;
  using Checksums = ContextField<0x00, 31, 31>;
  using VlanStripping = ContextField<0x00, 30, 30>;
  using OwnFramesModifiable = ContextField<0x00, 23, 23>;
  using InlineMode = ContextField<0x00, 13, 12>;  ///< 0 link layer's header, 1 as the port says, 2 none
  static constexpr std::uint32_t kNoInline = 2;
  using LogMaxSpread = ContextField<0x00, 11, 8>;  ///< rss_ind_tbl_cap
  using ScatterFcs = ContextField<0x00, 6, 6>;
};

}  // namespace hca::wire

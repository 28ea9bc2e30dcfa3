// Commands and contexts of raw packet queues: SQ, RQ, TIR, TIS, flow tables. Layouts: Linux
// include/linux/mlx5/mlx5_ifc.h, struct mlx5_ifc_sqc_bits, rqc_bits, tirc_bits, tisc_bits, create_flow_table_in_bits,
// create_flow_group_in_bits, set_fte_in_bits, flow_context_bits, fte_match_set_lyr_2_4_bits.
#pragma once

#include "models/wire/shared_receive_context.h"

namespace hca::wire {

/// States of SQ and RQ.
enum class WorkQueueState : std::uint8_t { kReset = 0, kReady = 1, kError = 3 };

/// 240 bytes and a page list; sqc and rqc have these at the same place.
struct EthernetQueueContext {
  static constexpr std::size_t kSize = 0x30 + WorkQueueContext::kSize;

  using ScatterFcs = ContextField<0x00, 29, 29>;        ///< rqc: the frame check sequence stays at the frame's end
  using VlanStripDisable = ContextField<0x00, 28, 28>;  ///< rqc.vsd
  using State = ContextField<0x00, 23, 20>;             ///< WorkQueueState
  using UserIndex = ContextField<0x04, 23, 0>;
  using Cq = ContextField<0x08, 23, 0>;
  using TisCount = ContextField<0x20, 31, 16>;  ///< sqc.tis_lst_sz
  using Tis = ContextField<0x2C, 23, 0>;        ///< sqc.tis_num_0
  using WorkQueue = ContextBlock<0x30, WorkQueueContext::kSize>;
};

/// CREATE_SQ and CREATE_RQ input. Output: ObjectCommand.
struct CreateEthernetQueueInput {
  static constexpr std::size_t kSize = 0x110;
  using Context = ContextBlock<0x20, EthernetQueueContext::kSize>;
  using Pages = ContextWords64<0x110>;
};
/// MODIFY_SQ and MODIFY_RQ input: from the state at the front to that of the context.
struct ModifyEthernetQueueInput {
  static constexpr std::size_t kSize = 0x110;
  using State = ContextField<0x08, 31, 28>;
  using Number = ContextField<0x08, 23, 0>;
  /// MODIFY_RQ alone: what of the context changes beside the state. Linux include/linux/mlx5/mlx5_ifc.h,
  /// MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_VSD and the next.
  using Mask = ContextWord64<0x10>;
  static constexpr std::uint64_t kVlanStripDisable = 1U << 1, kScatterFcs = 1U << 2;
  using Context = ContextBlock<0x20, EthernetQueueContext::kSize>;
};
/// QUERY_SQ and QUERY_RQ output.
struct QueryEthernetQueueOutput {
  static constexpr std::size_t kSize = 0x110;
  using Context = ContextBlock<0x20, EthernetQueueContext::kSize>;
};

/// CREATE_TIR input. Output: ObjectCommand.
struct CreateTirInput {
  static constexpr std::size_t kSize = 0x110;
  using Dispatch = ContextField<0x24, 31, 28>;  ///< 0 direct, 1 indirect
  using ReceiveQueue = ContextField<0x3C, 23, 0>;
  using HashSymmetric = ContextField<0x40, 31, 31>;
  using IndirectionTable = ContextField<0x40, 23, 0>;
  using HashFunction = ContextField<0x44, 31, 28>;  ///< adapter::ReceiveHash::Function
  /// tirc.self_lb_block, which in spite of its name lets own frames come back: bit 0 unicast, bit 1 multicast (Linux
  /// drivers/net/ethernet/mellanox/mlx5/core/en_common.c, mlx5e_modify_tirs_lb).
  using OwnFrames = ContextField<0x44, 25, 24>;
  static constexpr std::uint32_t kOwnUnicast = 1, kOwnMulticast = 2;
  using TransportDomain = ContextField<0x44, 23, 0>;
  using HashKey = ContextBlock<0x48, 40>;
  using HashIpv6 = ContextField<0x70, 31, 31>;
  using HashUdp = ContextField<0x70, 30, 30>;
  using HashFields = ContextField<0x70, 29, 0>;
};
/// CREATE_RQT input, struct mlx5_ifc_rqtc_bits; and MODIFY_RQT's, whose number is ModifyEthernetQueueInput::Number.
/// Output of the first: ObjectCommand.
struct CreateRqtInput {
  static constexpr std::size_t kSize = 0x110;
  using MaxSize = ContextField<0x34, 15, 0>;
  using ActualSize = ContextField<0x38, 15, 0>;
  static constexpr std::size_t kQueues = 0x110;  ///< a dword each: number of a receive queue in [23:0]
  using FirstQueue = ContextField<kQueues, 23, 0>;
};
/// CREATE_TIS input. Output: ObjectCommand.
struct CreateTisInput {
  static constexpr std::size_t kSize = 0xC0;
  using TransportDomain = ContextField<0x44, 23, 0>;
};

/// What all flow table commands name.
struct FlowTableInput {
  static constexpr std::uint32_t kReceive = 0;  ///< table_type NIC_RX
  using Type = ContextField<0x10, 31, 24>;
  using Table = ContextField<0x14, 23, 0>;
  using Group = ContextField<0x18, 31, 0>;
};
/// CREATE_FLOW_TABLE input. Output: ObjectCommand.
struct CreateFlowTableInput {
  static constexpr std::size_t kSize = 0x40;
  using Level = ContextField<0x18, 23, 16>;
  using LogSize = ContextField<0x18, 7, 0>;
};
/// CREATE_FLOW_GROUP input. Output: ObjectCommand.
struct CreateFlowGroupInput {
  static constexpr std::size_t kSize = 0x240;
  using FirstIndex = ContextField<0x1C, 31, 0>;
  using LastIndex = ContextField<0x24, 31, 0>;
  using Criteria = ContextField<0x3C, 7, 0>;  ///< bit 0: the outer headers
  using Match = ContextBlock<0x40, 0x200>;
};
/// SET_FLOW_TABLE_ENTRY input, and DELETE_FLOW_TABLE_ENTRY's as far as the index.
struct FlowEntryInput {
  static constexpr std::size_t kSize = 0x348;
  // Bits of the action.
  static constexpr std::uint32_t kDrop = 2;
  static constexpr std::uint32_t kForward = 4;
  // Types of a destination. A table as destination stands for those of higher levels.
  static constexpr std::uint32_t kToTable = 1;
  static constexpr std::uint32_t kToReceiver = 2;
  /// Operation modifier: 0 makes an entry, 1 changes what frames of it are for.
  static constexpr std::uint32_t kModify = 1;
  /// Of a change: which parts. Bits action, flow tag, destinations.
  using ModifyMask = ContextField<0x18, 7, 0>;
  static constexpr std::uint32_t kModifyDestinations = 4;
  using Index = ContextField<0x20, 31, 0>;
  using Group = ContextField<0x44, 31, 0>;
  using FlowTag = ContextField<0x48, 23, 0>;
  using Action = ContextField<0x4C, 15, 0>;
  using Destinations = ContextField<0x50, 23, 0>;
  using Value = ContextBlock<0x80, 0x200>;
  static constexpr std::size_t kDestinations = 0x340, kDestinationSize = 8;
  using DestinationType = ContextField<kDestinations, 31, 24>;
  using Destination = ContextField<kDestinations, 23, 0>;
};

/// What can be matched, criteria or value: outer headers (the first 64 bytes), and of the miscellaneous part behind
/// them one field.
struct FlowMatch {
  static constexpr std::uint32_t kOuterHeaders = 1, kMiscellaneous = 2;  ///< bits of the criteria

  using SourceHigh = ContextField<0x00, 31, 0>;
  using SourceLow = ContextField<0x04, 31, 16>;
  using Type = ContextField<0x04, 15, 0>;
  using DestinationHigh = ContextField<0x08, 31, 0>;
  using DestinationLow = ContextField<0x0C, 31, 16>;
  using Priority = ContextField<0x0C, 15, 13>;
  using DropEligible = ContextField<0x0C, 12, 12>;
  using Vlan = ContextField<0x0C, 11, 0>;
  using Protocol = ContextField<0x10, 31, 24>;
  using Dscp = ContextField<0x10, 23, 18>;
  using Ecn = ContextField<0x10, 17, 16>;
  using Tagged = ContextField<0x10, 15, 15>;  ///< cvlan_tag
  using Fragment = ContextField<0x10, 13, 13>;
  using IpVersion = ContextField<0x10, 12, 9>;
  using TcpFlags = ContextField<0x10, 8, 0>;
  using TcpSource = ContextField<0x14, 31, 16>;
  using TcpDestination = ContextField<0x14, 15, 0>;
  using HopLimit = ContextField<0x18, 7, 0>;
  using UdpSource = ContextField<0x1C, 31, 16>;
  using UdpDestination = ContextField<0x1C, 15, 0>;
  using NetworkSource = ContextBlock<0x20, 16>;  ///< of IPv4 the last four bytes
  using NetworkDestination = ContextBlock<0x30, 16>;
  using FlowLabel = ContextField<0x5C, 19, 0>;  ///< of IPv6: outer_ipv6_flow_label
};

}  // namespace hca::wire

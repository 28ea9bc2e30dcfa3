// Work queue entries, as software writes them into host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "models/wire/endian.h"
#include "models/wire/field.h"

namespace hca::wire {

/// Opcode of a send WQE, repeated in its CQE. rdma-core providers/mlx5/mlx5dv.h, MLX5_OPCODE_*.
enum class SendOpcode : std::uint8_t {
  kNop = 0x00,
  kSendInvalidate = 0x01,
  kWrite = 0x08,
  kWriteImmediate = 0x09,
  kSend = 0x0A,
  kSendImmediate = 0x0B,
  kSegmentedSend = 0x0E,
  kRead = 0x10,
  kCompareSwap = 0x11,
  kFetchAdd = 0x12,
  kMaskedCompareSwap = 0x14,
  kMaskedFetchAdd = 0x15,
  kLocalInvalidate = 0x1B,
  kSetPsv = 0x20,
  kUmr = 0x25,
  kTagMatching = 0x28,
  kMemoryOperation = 0x2F,
};

/// ControlSegment::fenceCompletionSolicited [3:2]. DPDK drivers/common/mlx5/mlx5_prm.h, MLX5_COMP_*.
enum class CompletionMode : std::uint8_t { kOnError = 0, kOnFirstError = 1, kAlways = 2, kAlwaysWithEvent = 3 };

/// ControlSegment::fenceCompletionSolicited [7:5]. Linux include/linux/mlx5/qp.h, MLX5_FENCE_MODE_*.
enum class FenceMode : std::uint8_t {
  kNone = 0,
  kInitiatorSmall = 1,
  kFence = 2,
  kStrongOrdering = 3,
  kSmallAndFence = 4,
};

/// Send queues count in blocks of this size; a WQE starts at a block.
constexpr std::size_t kSendBlockSize = 64;
/// Unit of ControlSegment::Size.
constexpr std::size_t kSegmentUnit = 16;
/// Counters of send and receive queues have 16 bits in WQEs, CQEs and doorbell records.
constexpr std::uint32_t kWqeCounterMask = 0xFFFF;

/// First segment of a send WQE. rdma-core providers/mlx5/mlx5dv.h, struct mlx5_wqe_ctrl_seg.
///
///        3                   2                   1
///      1 0 9 8 7 6 5 4 3 2 1 0 9 8 7 6 5 4 3 2 1 0 9 8 7 6 5 4 3 2 1 0
/// 00  | modifier      |          block index          |    opcode     |
/// 04  |                queue pair number              |   | size      |
/// 08  | signature     |           stream              |fen|_|ce |se|_ |
/// 0c  |            immediate, or memory key to invalidate             |
struct ControlSegment {
  Be32 modifierIndexOpcode;
  Be32 qpSize;
  std::uint8_t signature = 0;
  std::uint8_t stream[2] = {};
  std::uint8_t fenceCompletionSolicited = 0;
  Be32 immediate;

  using Modifier = Field<std::uint32_t, 31, 24>;                 ///< of modifierIndexOpcode
  using Index = Field<std::uint32_t, 23, 8>;                     ///< of modifierIndexOpcode: counter of the first block
  using Opcode = Field<std::uint32_t, 7, 0, SendOpcode>;         ///< of modifierIndexOpcode
  using QpNumber = Field<std::uint32_t, 31, 8>;                  ///< of qpSize
  using Size = Field<std::uint32_t, 5, 0>;                       ///< of qpSize: the whole WQE, 16-byte units
  using Fence = Field<std::uint8_t, 7, 5, FenceMode>;            ///< of fenceCompletionSolicited
  using Completion = Field<std::uint8_t, 3, 2, CompletionMode>;  ///< of fenceCompletionSolicited
  using Solicited = Field<std::uint8_t, 1, 1, bool>;             ///< of fenceCompletionSolicited
};

static_assert(sizeof(ControlSegment) == 16, "mlx5_wqe_ctrl_seg");
static_assert(std::is_standard_layout_v<ControlSegment> && std::is_trivially_copyable_v<ControlSegment>);
static_assert(offsetof(ControlSegment, modifierIndexOpcode) == 0 && offsetof(ControlSegment, qpSize) == 4);
static_assert(offsetof(ControlSegment, signature) == 8 && offsetof(ControlSegment, stream) == 9);
static_assert(offsetof(ControlSegment, fenceCompletionSolicited) == 11 && offsetof(ControlSegment, immediate) == 12);

/// The doorbell of a send queue is the first eight bytes of a control segment, so a doorbell names its WQE.
constexpr std::size_t kSendDoorbellSize = 8;

/// Segment of RDMA WRITE, RDMA READ and atomics. struct mlx5_wqe_raddr_seg.
struct RemoteAddressSegment {
  Be64 address;
  Be32 key;
  Be32 reserved;
};

static_assert(sizeof(RemoteAddressSegment) == 16, "mlx5_wqe_raddr_seg");
static_assert(offsetof(RemoteAddressSegment, address) == 0 && offsetof(RemoteAddressSegment, key) == 8);

/// A piece of local memory: gather of a send WQE, scatter of a receive WQE. struct mlx5_wqe_data_seg.
struct DataSegment {
  Be32 byteCount;
  Be32 key;
  Be64 address;

  using Length = Field<std::uint32_t, 30, 0>;         ///< of byteCount; 0 in a send WQE means 2 GiB
  using Inline = Field<std::uint32_t, 31, 31, bool>;  ///< of byteCount
  /// Ends the scatter list of a receive WQE before its last segment. mlx5dv.h, MLX5_INVALID_LKEY.
  static constexpr std::uint32_t kTerminatorKey = 0x100;
};

static_assert(sizeof(DataSegment) == 16, "mlx5_wqe_data_seg");
static_assert(offsetof(DataSegment, byteCount) == 0 && offsetof(DataSegment, key) == 4);
static_assert(offsetof(DataSegment, address) == 8);

/// Header of inline data; the data follow at once, the whole is padded to 16 bytes. struct mlx5_wqe_inl_data_seg.
struct InlineHeader {
  Be32 byteCount;

  using Length = Field<std::uint32_t, 9, 0>;          ///< of byteCount: a WQE has at most 63 units of 16 bytes
  using Inline = Field<std::uint32_t, 31, 31, bool>;  ///< of byteCount: always set
};

static_assert(sizeof(InlineHeader) == 4, "mlx5_wqe_inl_data_seg");

/// Operands of an atomic. struct mlx5_wqe_atomic_seg.
struct AtomicSegment {
  Be64 swapOrAdd;
  Be64 compare;
};

static_assert(sizeof(AtomicSegment) == 16, "mlx5_wqe_atomic_seg");
static_assert(offsetof(AtomicSegment, swapOrAdd) == 0 && offsetof(AtomicSegment, compare) == 8);

/// Address vector of a datagram, or of a request of a dynamic connection. struct mlx5_wqe_av; field positions:
/// rdma-core providers/mlx5/verbs.c, mlx5_create_ah.
struct DatagramSegment {
  Be32 queueKey;      ///< dynamic connection: upper half of the access key
  Be32 accessKeyLow;  ///< datagram: 0
  Be32 destinationQp;
  std::uint8_t rateServiceLevel = 0;
  std::uint8_t pathBits = 0;  ///< [6:0]; bit 7: force loopback
  Be16 remoteLid;             ///< RoCE: UDP source port
  std::uint8_t reserved1[4] = {};
  std::uint8_t remoteMac[6] = {};
  std::uint8_t trafficClass = 0;
  std::uint8_t hopLimit = 0;
  Be32 gidFlow;
  std::uint8_t remoteGid[16] = {};

  using Extended = Field<std::uint32_t, 31, 31, bool>;     ///< of destinationQp: all 48 bytes are there, else 16
  using QpNumber = Field<std::uint32_t, 23, 0>;            ///< of destinationQp
  using StaticRate = Field<std::uint8_t, 7, 4>;            ///< of rateServiceLevel
  using ServiceLevel = Field<std::uint8_t, 3, 0>;          ///< of rateServiceLevel
  using GlobalRoute = Field<std::uint32_t, 30, 30, bool>;  ///< of gidFlow
  using SourceGidIndex = Field<std::uint32_t, 27, 20>;     ///< of gidFlow
  using FlowLabel = Field<std::uint32_t, 19, 0>;           ///< of gidFlow
};

static_assert(sizeof(DatagramSegment) == 48, "mlx5_wqe_av");
static_assert(std::is_standard_layout_v<DatagramSegment> && std::is_trivially_copyable_v<DatagramSegment>);
static_assert(offsetof(DatagramSegment, queueKey) == 0 && offsetof(DatagramSegment, destinationQp) == 8);
static_assert(offsetof(DatagramSegment, rateServiceLevel) == 12 && offsetof(DatagramSegment, pathBits) == 13);
static_assert(offsetof(DatagramSegment, remoteLid) == 14 && offsetof(DatagramSegment, remoteMac) == 20);
static_assert(offsetof(DatagramSegment, trafficClass) == 26 && offsetof(DatagramSegment, hopLimit) == 27);
static_assert(offsetof(DatagramSegment, gidFlow) == 28 && offsetof(DatagramSegment, remoteGid) == 32);

/// Behind the control segment of a raw packet. struct mlx5_wqe_eth_seg. The beginning of the frame may follow here;
/// it starts with the last two bytes of the segment, and data segments begin at the next multiple of 16 bytes.
struct EthernetSegment {
  std::uint8_t reserved0[4] = {};
  std::uint8_t checksumFlags = 0;
  std::uint8_t reserved1 = 0;
  Be16 segmentSize;
  std::uint8_t reserved2[4] = {};
  Be16 inlineLength;
  std::uint8_t inlineStart[2] = {};

  // Of checksumFlags: what the adapter is to insert. MLX5_ETH_WQE_L3_CSUM, MLX5_ETH_WQE_L4_CSUM.
  using NetworkChecksum = Field<std::uint8_t, 6, 6, bool>;
  using TransportChecksum = Field<std::uint8_t, 7, 7, bool>;
};

static_assert(sizeof(EthernetSegment) == 16, "mlx5_wqe_eth_seg");
static_assert(offsetof(EthernetSegment, checksumFlags) == 4 && offsetof(EthernetSegment, segmentSize) == 6);
static_assert(offsetof(EthernetSegment, inlineLength) == 12 && offsetof(EthernetSegment, inlineStart) == 14);

/// Behind the control segment of an XRC request. struct mlx5_wqe_xrc_seg.
struct XrcSegment {
  Be32 sharedQueue;  ///< 24 bits
  std::uint8_t reserved[12] = {};
};

static_assert(sizeof(XrcSegment) == 16, "mlx5_wqe_xrc_seg");

/// First segment of a WQE in a shared receive queue, which is a linked list. struct mlx5_wqe_srq_next_seg.
struct NextSegment {
  std::uint8_t reserved0[2] = {};
  Be16 nextIndex;
  std::uint8_t signature = 0;
  std::uint8_t reserved1[11] = {};
};

static_assert(sizeof(NextSegment) == 16, "mlx5_wqe_srq_next_seg");
static_assert(offsetof(NextSegment, nextIndex) == 2 && offsetof(NextSegment, signature) == 4);

/// First segment after the control segment of a kUmr WQE; a MemoryKeyContext follows, then the translations or data
/// segments that tell where those are. The key is the control segment's immediate. struct mlx5_wqe_umr_ctrl_seg;
/// flags: rdma-core providers/mlx5/mlx5dv.h, MLX5_WQE_UMR_CTRL_FLAG_*, and Linux include/linux/mlx5/device.h,
/// MLX5_UMR_* (whose CHECK_NOT_FREE is the former's CHECK_FREE: "fail if not free").
struct UmrControlSegment {
  std::uint8_t flags = 0;
  std::uint8_t reserved0[3] = {};
  Be16 translationOctwords;
  Be16 translationOffset;  ///< 16-byte units, low 16 bits
  Be64 keyMask;            ///< which fields of the memory key change
  Be32 translationOffsetHigh;
  std::uint8_t reserved1[28] = {};

  using Inline = Field<std::uint8_t, 7, 7, bool>;             ///< of flags: translations are in the WQE
  using MustBeValid = Field<std::uint8_t, 6, 6, bool>;        ///< of flags: fail if the key is free
  using MustBeFree = Field<std::uint8_t, 5, 5, bool>;         ///< of flags: fail if the key is not free
  using TranslationOffset = Field<std::uint8_t, 4, 4, bool>;  ///< of flags: translationOffset counts
  using MustBeOwn = Field<std::uint8_t, 3, 3, bool>;          ///< of flags: fail if the key is of another queue pair
};

static_assert(sizeof(UmrControlSegment) == 48, "mlx5_wqe_umr_ctrl_seg");
static_assert(offsetof(UmrControlSegment, flags) == 0 && offsetof(UmrControlSegment, translationOctwords) == 4);
static_assert(offsetof(UmrControlSegment, translationOffset) == 6 && offsetof(UmrControlSegment, keyMask) == 8);
static_assert(offsetof(UmrControlSegment, translationOffsetHigh) == 16);

/// Bits of UmrControlSegment::keyMask. Linux include/linux/mlx5/device.h, MLX5_MKEY_MASK_*.
namespace key_mask {
constexpr std::uint64_t kLength = std::uint64_t{1} << 0;
constexpr std::uint64_t kPageSize = std::uint64_t{1} << 1;
constexpr std::uint64_t kStart = std::uint64_t{1} << 6;
constexpr std::uint64_t kProtectionDomain = std::uint64_t{1} << 7;
constexpr std::uint64_t kRemoteInvalidate = std::uint64_t{1} << 8;
constexpr std::uint64_t kVariant = std::uint64_t{1} << 13;
constexpr std::uint64_t kQp = std::uint64_t{1} << 14;
constexpr std::uint64_t kLocalRead = std::uint64_t{1} << 17;
constexpr std::uint64_t kLocalWrite = std::uint64_t{1} << 18;
constexpr std::uint64_t kRemoteRead = std::uint64_t{1} << 19;
constexpr std::uint64_t kRemoteWrite = std::uint64_t{1} << 20;
constexpr std::uint64_t kAtomic = std::uint64_t{1} << 21;
constexpr std::uint64_t kRelaxedOrderingWrite = std::uint64_t{1} << 25;
constexpr std::uint64_t kFree = std::uint64_t{1} << 29;
constexpr std::uint64_t kRelaxedOrderingRead = std::uint64_t{1} << 47;
}  // namespace key_mask

/// One row of an indirect key: a piece of another key. struct mlx5_wqe_umr_klm_seg.
struct KeyPieceSegment {
  Be32 byteCount;
  Be32 key;
  Be64 address;
};

static_assert(sizeof(KeyPieceSegment) == 16, "mlx5_wqe_umr_klm_seg");
static_assert(offsetof(KeyPieceSegment, byteCount) == 0 && offsetof(KeyPieceSegment, key) == 4);
static_assert(offsetof(KeyPieceSegment, address) == 8);

}  // namespace hca::wire

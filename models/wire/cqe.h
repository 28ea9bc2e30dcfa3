// Completion queue entries, as the adapter writes them into host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "models/wire/endian.h"
#include "models/wire/field.h"

namespace hca::wire {

/// op_own[7:4]. rdma-core providers/mlx5/mlx5dv.h, MLX5_CQE_*.
enum class CqeOpcode : std::uint8_t {
  kRequester = 0,
  kResponderWriteImmediate = 1,
  kResponderSend = 2,
  kResponderSendImmediate = 3,
  kResponderSendInvalidate = 4,
  kResize = 5,
  kNoPacket = 6,
  kSignatureError = 12,
  kRequesterError = 13,
  kResponderError = 14,
  kInvalid = 15,
};

/// op_own[3:2]. Linux include/linux/mlx5/device.h, MLX5_NO_INLINE_DATA ... MLX5_COMPRESSED.
enum class CqeFormat : std::uint8_t { kPlain = 0, kInline32 = 1, kInline64 = 2, kCompressed = 3 };

/// ErrorCqe::syndrome. rdma-core providers/mlx5/mlx5dv.h, MLX5_CQE_SYNDROME_*.
enum class CqeSyndrome : std::uint8_t {
  kLocalLength = 0x01,
  kLocalQpOperation = 0x02,
  kLocalProtection = 0x04,
  kWorkRequestFlushed = 0x05,
  kMemoryWindowBind = 0x06,
  kBadResponse = 0x10,
  kLocalAccess = 0x11,
  kRemoteInvalidRequest = 0x12,
  kRemoteAccess = 0x13,
  kRemoteOperation = 0x14,
  kTransportRetryExceeded = 0x15,
  kRnrRetryExceeded = 0x16,
  kRemoteAborted = 0x22,
};

/// The last byte of every entry. It must be the last to become visible in host memory.
struct OpOwn {
  using Opcode = Field<std::uint8_t, 7, 4, CqeOpcode>;
  using Format = Field<std::uint8_t, 3, 2, CqeFormat>;
  using Solicited = Field<std::uint8_t, 1, 1, bool>;
  using Owner = Field<std::uint8_t, 0, 0, bool>;
  /// What software fills a new ring with.
  static constexpr std::uint8_t kInitial = 0xF0;
};

/// The owner bit of the entry with free-running index `index` in a ring of 2^logSize entries: 0 on the first pass.
[[nodiscard]] constexpr bool ownerBit(std::uint32_t index, unsigned logSize) { return ((index >> logSize) & 1) != 0; }

/// Whether software may consume the entry with free-running index `index`: rdma-core providers/mlx5/cq.c, get_sw_cqe.
[[nodiscard]] constexpr bool isSoftwareOwned(std::uint8_t opOwn, std::uint32_t index, unsigned logSize) {
  return OpOwn::Opcode::get(opOwn) != CqeOpcode::kInvalid && OpOwn::Owner::get(opOwn) == ownerBit(index, logSize);
}

/// Indices of completion queues are 24 bits in every register and record.
constexpr std::uint32_t kCqIndexMask = 0xFFFFFF;

///        3                   2                   1
///      1 0 9 8 7 6 5 4 3 2 1 0 9 8 7 6 5 4 3 2 1 0 9 8 7 6 5 4 3 2 1 0
/// 00  | tunnelled     | (reserved)    |            wqe id             |
/// 04  |                    receive coalescing (8 bytes)               |
/// 0c  |                         RSS hash                              |
/// 10  | hash type     | path bits     |          (reserved)           |
/// 14  |           checksum            |          source LID           |
/// 18  |res|GRH|  SL   |              remote QP number                 |
/// 1c  | header flags  | header types  |             VLAN              |
/// 20  | segments      |          user index / SRQ number              |
/// 24  |          immediate / invalidated key / partition key          |
/// 28  | app           | app operation |           app info            |
/// 2c  |                         byte count                            |
/// 30  |                    time stamp (8 bytes)                       |
/// 38  | send opcode   |              local QP number                  |
/// 3c  |         wqe counter           | signature     |op |fmt|se|own |
///
/// Linux include/linux/mlx5/device.h, struct mlx5_cqe64; rdma-core providers/mlx5/mlx5dv.h, struct mlx5_cqe64.
struct Cqe {
  std::uint8_t tunnelled = 0;
  std::uint8_t reserved0 = 0;
  Be16 wqeId;
  std::uint8_t coalescing[8] = {};
  Be32 rssHash;
  std::uint8_t rssHashType = 0;
  std::uint8_t pathBits = 0;  ///< [6:0] low bits of the local LID that the packet was sent to
  std::uint8_t reserved1[2] = {};
  Be16 checksum;
  Be16 sourceLid;
  Be32 flagsRemoteQp;
  std::uint8_t headerFlags = 0;
  std::uint8_t headerTypes = 0;
  Be16 vlan;
  Be32 userIndex;  ///< entry version 0: SRQ number; version 1: user index of the QP or SRQ
  Be32 immediate;
  std::uint8_t app = 0;
  std::uint8_t appOperation = 0;
  Be16 appInfo;
  Be32 byteCount;
  Be64 timestamp;  ///< ticks of the adapter clock, 63 bits
  Be32 opcodeQp;
  Be16 wqeCounter;
  std::uint8_t signature = 0;
  std::uint8_t opOwn = OpOwn::kInitial;

  using RemoteQp = Field<std::uint32_t, 23, 0>;            ///< of flagsRemoteQp
  using ServiceLevel = Field<std::uint32_t, 27, 24>;       ///< of flagsRemoteQp
  using GrhInBuffer = Field<std::uint32_t, 28, 28, bool>;  ///< of flagsRemoteQp
  using GrhInEntry = Field<std::uint32_t, 29, 29, bool>;   ///< of flagsRemoteQp
  using UserIndex = Field<std::uint32_t, 23, 0>;           ///< of userIndex
  using SendOpcode = Field<std::uint32_t, 31, 24>;         ///< of opcodeQp, requester: wire::SendOpcode
  using LocalQp = Field<std::uint32_t, 23, 0>;             ///< of opcodeQp
  using FlowTag = Field<std::uint32_t, 23, 0>;             ///< of opcodeQp, of a raw packet received
  using NetworkOk = Field<std::uint8_t, 1, 1, bool>;       ///< of headerFlags: L3_OK
  using TransportOk = Field<std::uint8_t, 2, 2, bool>;     ///< of headerFlags: L4_OK
  using LinkOk = Field<std::uint8_t, 0, 0, bool>;          ///< of headerFlags: L2_OK
  // Of byteCount in a striding receive queue (Linux include/linux/mlx5/device.h, struct mpwrq_cqe_bc), where wqeCounter
  // is the index of the first stride and wqeId the WQE.
  using Filler =
      Field<std::uint32_t, 31, 31, bool>;  ///< no packet: the rest of the WQE, which the next was too long for
  using ConsumedStrides = Field<std::uint32_t, 30, 16>;
  using PacketLength = Field<std::uint32_t, 15, 0>;
  using VlanPresent = Field<std::uint8_t, 0, 0, bool>;  ///< of headerTypes: a tag was taken out of the frame
  using NetworkType = Field<std::uint8_t, 3, 2>;        ///< of headerTypes: 0 none, 1 IPv6, 2 IPv4
  using TransportType = Field<std::uint8_t, 6, 4>;      ///< of headerTypes: 0 none, 2 UDP, 4 TCP
};

static_assert(sizeof(Cqe) == 64 && alignof(Cqe) == 8, "a CQE is 64 bytes (mlx5_cqe64)");
static_assert(std::is_standard_layout_v<Cqe> && std::is_trivially_copyable_v<Cqe>);
static_assert(offsetof(Cqe, tunnelled) == 0x00 && offsetof(Cqe, wqeId) == 0x02 && offsetof(Cqe, coalescing) == 0x04);
static_assert(offsetof(Cqe, rssHash) == 0x0C && offsetof(Cqe, rssHashType) == 0x10 && offsetof(Cqe, pathBits) == 0x11);
static_assert(offsetof(Cqe, checksum) == 0x14 && offsetof(Cqe, sourceLid) == 0x16);
static_assert(offsetof(Cqe, flagsRemoteQp) == 0x18 && offsetof(Cqe, headerFlags) == 0x1C);
static_assert(offsetof(Cqe, headerTypes) == 0x1D && offsetof(Cqe, vlan) == 0x1E && offsetof(Cqe, userIndex) == 0x20);
static_assert(offsetof(Cqe, immediate) == 0x24 && offsetof(Cqe, app) == 0x28 && offsetof(Cqe, appOperation) == 0x29);
static_assert(offsetof(Cqe, appInfo) == 0x2A && offsetof(Cqe, byteCount) == 0x2C && offsetof(Cqe, timestamp) == 0x30);
static_assert(offsetof(Cqe, opcodeQp) == 0x38 && offsetof(Cqe, wqeCounter) == 0x3C);
static_assert(offsetof(Cqe, signature) == 0x3E && offsetof(Cqe, opOwn) == 0x3F, "the owner byte is the last one");

/// A CQE whose opOwn opcode is kRequesterError or kResponderError.
/// rdma-core providers/mlx5/mlx5dv.h, struct mlx5_err_cqe; hardware syndrome: DPDK drivers/common/mlx5/mlx5_prm.h.
struct ErrorCqe {
  std::uint8_t reserved0[0x20] = {};
  Be32 userIndex;
  std::uint8_t reserved1[0x10] = {};
  std::uint8_t hardwareSyndrome = 0;
  std::uint8_t hardwareSyndromeType = 0;
  std::uint8_t vendorSyndrome = 0;
  std::uint8_t syndrome = 0;  ///< CqeSyndrome
  Be32 opcodeQp;              ///< fields as in Cqe
  Be16 wqeCounter;
  std::uint8_t signature = 0;
  std::uint8_t opOwn = OpOwn::kInitial;
};

static_assert(sizeof(ErrorCqe) == 64, "an error CQE is 64 bytes (mlx5_err_cqe)");
static_assert(std::is_standard_layout_v<ErrorCqe> && std::is_trivially_copyable_v<ErrorCqe>);
static_assert(offsetof(ErrorCqe, userIndex) == 0x20 && offsetof(ErrorCqe, hardwareSyndrome) == 0x34);
static_assert(offsetof(ErrorCqe, hardwareSyndromeType) == 0x35 && offsetof(ErrorCqe, vendorSyndrome) == 0x36);
static_assert(offsetof(ErrorCqe, syndrome) == 0x37 && offsetof(ErrorCqe, opcodeQp) == 0x38);
static_assert(offsetof(ErrorCqe, wqeCounter) == 0x3C && offsetof(ErrorCqe, signature) == 0x3E);
static_assert(offsetof(ErrorCqe, opOwn) == 0x3F, "the owner byte is the last one");

/// A CQE whose opOwn opcode is kSignatureError. Linux include/linux/mlx5/device.h, struct mlx5_sig_err_cqe.
struct SignatureErrorCqe {
  std::uint8_t reserved0[16] = {};
  Be32 expectedSignature;
  Be32 actualSignature;
  Be32 expectedReferenceTag;
  Be32 actualReferenceTag;
  Be16 syndrome;  ///< bit 13 guard, 12 application tag, 11 reference tag
  std::uint8_t signatureType = 0;
  std::uint8_t domain = 0;
  Be32 memoryKey;
  Be64 errorOffset;
  std::uint8_t reserved1[8] = {};
  Be32 qp;
  std::uint8_t reserved2[2] = {};
  std::uint8_t signature = 0;
  std::uint8_t opOwn = OpOwn::kInitial;
};

static_assert(sizeof(SignatureErrorCqe) == 64, "a signature error CQE is 64 bytes (mlx5_sig_err_cqe)");
static_assert(std::is_standard_layout_v<SignatureErrorCqe> && std::is_trivially_copyable_v<SignatureErrorCqe>);
static_assert(offsetof(SignatureErrorCqe, expectedSignature) == 0x10);
static_assert(offsetof(SignatureErrorCqe, actualSignature) == 0x14);
static_assert(offsetof(SignatureErrorCqe, expectedReferenceTag) == 0x18);
static_assert(offsetof(SignatureErrorCqe, actualReferenceTag) == 0x1C);
static_assert(offsetof(SignatureErrorCqe, syndrome) == 0x20 && offsetof(SignatureErrorCqe, signatureType) == 0x22);
static_assert(offsetof(SignatureErrorCqe, domain) == 0x23 && offsetof(SignatureErrorCqe, memoryKey) == 0x24);
static_assert(offsetof(SignatureErrorCqe, errorOffset) == 0x28 && offsetof(SignatureErrorCqe, qp) == 0x38);
static_assert(offsetof(SignatureErrorCqe, signature) == 0x3E && offsetof(SignatureErrorCqe, opOwn) == 0x3F);

/// An entry of 32 bytes, which no adapter has, is the end of a CQE: user index, immediate, byte count, time stamp,
/// queue pair, counter, owner byte.
constexpr std::size_t kShortCqeSize = 32;

/// A 128-byte entry: the 64-byte CQE is its second half. The first half has inline data or a GRH.
struct WideCqe {
  std::uint8_t inlineData[64] = {};
  Cqe cqe;
};

static_assert(sizeof(WideCqe) == 128, "a wide entry is 128 bytes (mlx5_cqe128)");
static_assert(offsetof(WideCqe, cqe) == 64, "the CQE proper is the second half");
/// Where the 40-byte GRH of a wide entry starts when GrhInEntry is set: it ends where the CQE proper begins
/// (UCX src/uct/ib/mlx5/ib_mlx5.inl, uct_ib_mlx5_gid_from_cqe; Linux' union would put it at 0).
constexpr std::size_t kWideCqeGrhOffset = 24;
/// Bytes that inline scatter puts into the front of the CQE proper, or into the first half of a wide entry.
constexpr std::size_t kInlineScatterSmall = 32;
constexpr std::size_t kInlineScatterLarge = 64;

/// What a responder's mini CQE holds beside the byte count: cqc.mini_cqe_res_format.
enum class MiniFormat : std::uint8_t { kHash = 0, kChecksum = 1, kChecksumStrideIndex = 3 };

/// One compressed completion of a responder. Bytes 0..3 follow the context's mini format.
/// DPDK drivers/common/mlx5/mlx5_prm.h, struct mlx5_mini_cqe8; Linux include/linux/mlx5/device.h.
struct MiniCqe {
  Be16 high;  ///< checksum, or bits 31..16 of the RSS hash
  Be16 low;   ///< stride index, or bits 15..0 of the RSS hash
  Be32 byteCount;
};

static_assert(sizeof(MiniCqe) == 8, "a mini CQE is 8 bytes (mlx5_mini_cqe8)");
static_assert(offsetof(MiniCqe, high) == 0 && offsetof(MiniCqe, low) == 2 && offsetof(MiniCqe, byteCount) == 4);

/// One compressed completion of a requester.
struct RequesterMiniCqe {
  Be16 wqeCounter;
  std::uint8_t sendOpcode = 0;
  std::uint8_t reserved = 0;
  Be32 byteCount;
};

static_assert(sizeof(RequesterMiniCqe) == 8);
static_assert(offsetof(RequesterMiniCqe, wqeCounter) == 0 && offsetof(RequesterMiniCqe, sendOpcode) == 2);
static_assert(offsetof(RequesterMiniCqe, byteCount) == 4);

/// Basic layout: an array of eight fills one 64-byte slot.
constexpr std::size_t kMiniCqesPerArray = 8;
/// Enhanced layout: up to seven, then the tail of an ordinary CQE.
constexpr std::size_t kMiniCqesPerEnhancedBlock = 7;

}  // namespace hca::wire

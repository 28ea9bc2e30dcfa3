// Verbs words, as plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/adapter/completion/session_policy.h"
#include "models/base/ids.h"
#include "models/base/units.h"
#include "models/network/packet.h"

namespace hca::driver {

enum class SendOpcode : std::uint8_t {
  kSend,
  kSendImmediate,
  kSendInvalidate,
  kWrite,
  kWriteImmediate,
  kRead,
  kCompareSwap,
  kFetchAdd,
  kBindWindow,       ///< of a window of type 2; WindowBind tells what
  kLocalInvalidate,  ///< immediateOrKey is the key
};

/// ibv_access_flags
enum class MemoryAccess : std::uint8_t {
  kLocalWrite = 1,
  kRemoteWrite = 2,
  kRemoteRead = 4,
  kRemoteAtomic = 8,
  kWindowBind = 16,  ///< of a region: windows may be bound to it
  kZeroBased = 32,   ///< of a window of type 2: its addresses start at 0
};

/// Whether the flags `access` hold `right`.
[[nodiscard]] constexpr bool has(std::uint32_t access, MemoryAccess right) {
  return (access & static_cast<std::uint32_t>(right)) != 0;
}

/// ibv_mw_type. Type 1: any queue pair of the domain reaches it, bound by bindMw. Type 2: only the queue pair that
/// bound it, bound by a work request, and a SEND with invalidate may free it.
enum class WindowType : std::uint8_t { kType1 = 1, kType2 = 2 };

/// wr.bind_mw with its ibv_mw_bind_info
struct WindowBind {
  WindowType type = WindowType::kType2;
  MemoryKey window;  ///< its key up to now
  MemoryKey newKey;  ///< the same but for the low byte
  MemoryKey region;  ///< local key of what it is bound to
  std::uint64_t address = 0;
  std::uint64_t length = 0;  ///< bytes, at most 2 GiB; 0 unbinds
  std::uint32_t access = 0;  ///< remote rights, kZeroBased
};

/// ibv_sge. `address` is a virtual address of the client's own memory.
struct ScatterGather {
  std::uint64_t address = 0;
  std::uint32_t length = 0;
  MemoryKey localKey;
};

/// What programs ask for when they name none.
constexpr std::uint8_t kHopLimit = 64;

/// ibv_ah_attr, and with it the handle: where a datagram goes. On InfiniBand the library alone makes handles (rdma-core
/// providers/mlx5/verbs.c, mlx5_create_ah), so they have no life of their own here.
struct AddressHandle {
  Lid lid;
  std::uint8_t serviceLevel = 0;
  std::uint8_t sourcePathBits = 0;
  bool globalRoute = false;  ///< the datagram carries a GRH, made of what follows
  network::Gid remoteGid{};
  std::array<std::uint8_t, 6> remoteMac{};  ///< RoCE: the neighbour's, as the kernel looked it up
  std::uint8_t sourceGidIndex = 0;
  std::uint8_t hopLimit = kHopLimit;
  std::uint8_t trafficClass = 0;
  std::uint32_t flowLabel = 0;
};

/// wr.ud of ibv_send_wr
struct DatagramTarget {
  AddressHandle address;
  QpNumber qp;
  std::uint32_t queueKey = 0;
};

/// Bytes in front of a datagram in its receive buffer; they hold the GRH if it came with one.
constexpr std::uint32_t kGlobalRouteHeaderSize = 40;

/// ibv_send_wr
struct SendWorkRequest {
  std::uint64_t workRequestId = 0;  ///< wr_id
  SendOpcode opcode = SendOpcode::kSend;
  std::vector<ScatterGather> scatterGather;
  bool signaled = true;
  bool solicited = false;
  bool fence = false;
  bool inlineData = false;
  std::uint32_t immediateOrKey = 0;
  std::uint64_t remoteAddress = 0;
  MemoryKey remoteKey;
  std::uint64_t compareOrAdd = 0;
  std::uint64_t swap = 0;
  DatagramTarget datagram;  ///< of an unreliable datagram queue pair's requests
  WindowBind bind;          ///< of kBindWindow
  SrqNumber remoteSrq;      ///< of an XRC initiator's requests: the peer's queue that it is for
};

/// ibv_recv_wr
struct ReceiveWorkRequest {
  std::uint64_t workRequestId = 0;
  std::vector<ScatterGather> scatterGather;
};

/// ibv_wc_status, by its numbers.
enum class WcStatus : std::uint8_t {
  kSuccess = 0,
  kLocalLength = 1,
  kLocalQpOperation = 2,
  kLocalEeContext = 3,
  kLocalProtection = 4,
  kFlushed = 5,
  kWindowBind = 6,
  kBadResponse = 7,
  kLocalAccess = 8,
  kRemoteInvalidRequest = 9,
  kRemoteAccess = 10,
  kRemoteOperation = 11,
  kRetryExceeded = 12,
  kRnrRetryExceeded = 13,
  kRemoteAborted = 16,
  kGeneral = 21,
};
/// Name as ibv_wc_status_str's constant, e.g. "WR_FLUSH_ERR".
[[nodiscard]] const char* name(WcStatus status);

enum class WcOpcode : std::uint8_t {
  kSend,
  kWrite,
  kRead,
  kCompareSwap,
  kFetchAdd,
  kBindWindow,
  kLocalInvalidate,
  kReceive,
  kReceiveWriteImmediate,
};

/// Name as ibv_wc_opcode's constant without its prefix, e.g. "RDMA_WRITE".
[[nodiscard]] const char* name(WcOpcode opcode);

/// ibv_wc. After an error only workRequestId, status, qp and vendorError count.
struct WorkCompletion {
  std::uint64_t workRequestId = 0;
  WcStatus status = WcStatus::kSuccess;
  WcOpcode opcode = WcOpcode::kSend;
  std::uint8_t vendorError = 0;
  std::uint32_t byteLength = 0;  ///< of reads, atomics and receives; a datagram's includes the 40 bytes of the GRH
  bool hasImmediate = false;
  bool hasInvalidatedKey = false;
  std::uint32_t immediateOrKey = 0;
  QpNumber qp;
  QpNumber sourceQp;            ///< of a receive
  bool hasGlobalRoute = false;  ///< the first 40 bytes of the receive buffer are a GRH
  Lid sourceLid;                ///< of a datagram, as is the next
  std::uint8_t serviceLevel = 0;
  std::uint8_t pathBits = 0;  ///< of a receive: low bits of the LID that its last packet was sent to
  // Of a raw packet.
  bool checksumOk = false;      ///< IBV_WC_IP_CSUM_OK: IPv4, header and TCP or UDP checksum are right
  std::uint16_t vlan = 0;       ///< the tag that was taken out of the frame; 0: none
  std::uint32_t flowTag = 0;    ///< of the rule that steered it
  std::uint64_t timestamp = 0;  ///< raw adapter clock, or as CqRequest::realTimeStamps says
};

/// errno of verbs calls that may fail.
enum class VerbsError : std::uint8_t { kNone, kInvalid, kNoMemory, kBusy, kNotSupported, kInputOutput };

/// Who sets a queue's moderation.
enum class ModerationKind : std::uint8_t { kNone, kFixed, kRdmaDim };

/// How completions are gathered in a queue, if at all (mlx5dv_create_cq).
enum class CompressionKind : std::uint8_t { kNone, kBasic, kEnhanced };
struct CqCompression {
  CompressionKind layout = CompressionKind::kNone;
  adapter::MiniFormat miniFormat = adapter::MiniFormat::kHash;
  bool striding = false;  ///< every receive that completes there is of a striding queue
};

struct CqRequest {
  std::int32_t cqe = 0;  ///< minimum depth
  std::uint32_t comp_vector = 0;
  bool withChannel = false;     ///< attached to the client's completion channel
  std::uint32_t cqe_size = 64;  ///< bytes: 64 or 128; 32 if the adapter is told to have such
  bool padded = false;          ///< entries of 128 bytes are written whole (MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD)
  CqCompression compression;    ///< of entries of 64 bytes
  bool realTimeStamps = false;  ///< seconds in [62:32] and nanoseconds in [31:0] instead of raw ticks
  bool ignoreOverrun = false;
  ModerationKind moderation = ModerationKind::kFixed;
  std::uint16_t cq_count = 0;   ///< of fixed moderation
  std::uint16_t cq_period = 0;  ///< the same, microseconds
};

/// Handles are small dense numbers of one client.
using CqHandle = Id<struct CqHandleTag>;
using SrqHandle = Id<struct SrqHandleTag>;
using XrcdHandle = Id<struct XrcdHandleTag>;

/// What makes a shared queue one of XRC: senders name it, and it has a completion queue of its own.
struct XrcSrq {
  XrcdHandle domain;
  CqHandle cq;
};

/// ibv_srq_init_attr, ibv_srq_init_attr_ex
struct SrqRequest {
  std::uint32_t maxWr = 0;
  std::uint32_t maxSge = 1;
  std::optional<XrcSrq> xrc = std::nullopt;
};

/// Of an XRC connection the initiator sends, and the target, which has no queues, gives to the shared queue that each
/// request names (IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV).
enum class QpType : std::uint8_t { kRc, kUc, kUd, kXrcInitiator, kXrcTarget };

struct QpRequest {
  QpType type = QpType::kRc;
  std::uint32_t maxSendWr = 0;
  std::uint32_t maxReceiveWr = 0;
  std::uint32_t maxSendSge = 1;
  std::uint32_t maxReceiveSge = 1;
  std::uint32_t maxInline = 0;  ///< bytes
  /// Small responses come in their completion entries: up to 32 bytes, or 64 in entries of 128 bytes, of receives and
  /// of signaled reads and atomics (libmlx5: MLX5_SCATTER_TO_CQE).
  bool scatterToCqe = false;
  std::optional<SrqHandle> srq;  ///< receives come from there; maxReceiveWr doesn't count
  XrcdHandle domain;             ///< of an XRC target: of the shared queues that it may give to
};

}  // namespace hca::driver

// Verbs words, as plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/ids.h"
#include "models/base/units.h"

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
};

/// ibv_sge. `address` is a virtual address of the client's own memory.
struct ScatterGather {
  std::uint64_t address = 0;
  std::uint32_t length = 0;
  MemoryKey localKey;
};

/// ibv_ah_attr, and with it the handle: where a datagram goes. On InfiniBand the library alone makes handles (rdma-core
/// providers/mlx5/verbs.c, mlx5_create_ah), so they have no life of their own here.
struct AddressHandle {
  Lid lid;
  std::uint8_t serviceLevel = 0;
  std::uint8_t sourcePathBits = 0;
  bool globalRoute = false;  ///< the datagram carries a GRH, made of what follows
  std::array<std::uint8_t, 16> remoteGid{};
  std::uint8_t sourceGidIndex = 0;
  std::uint8_t hopLimit = 0;
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
  std::uint64_t timestamp = 0;  ///< raw adapter clock
};

/// errno of verbs calls that may fail.
enum class VerbsError : std::uint8_t { kNone, kInvalid, kNoMemory, kBusy, kNotSupported, kInputOutput };

/// Who sets a queue's moderation.
enum class ModerationKind : std::uint8_t { kNone, kFixed, kRdmaDim };

struct CqRequest {
  std::int32_t cqe = 0;  ///< minimum depth
  std::uint32_t comp_vector = 0;
  bool withChannel = false;     ///< attached to the client's completion channel
  std::uint32_t cqe_size = 64;  ///< bytes: 64 or 128
  bool ignoreOverrun = false;
  ModerationKind moderation = ModerationKind::kFixed;
  std::uint16_t cq_count = 0;   ///< of fixed moderation
  std::uint16_t cq_period = 0;  ///< the same, microseconds
};

/// Handles are small dense numbers of one client.
using SrqHandle = Id<struct SrqHandleTag>;

/// ibv_srq_init_attr
struct SrqRequest {
  std::uint32_t maxWr = 0;
  std::uint32_t maxSge = 1;
};

enum class QpType : std::uint8_t { kRc, kUc, kUd };

struct QpRequest {
  QpType type = QpType::kRc;
  std::uint32_t maxSendWr = 0;
  std::uint32_t maxReceiveWr = 0;
  std::uint32_t maxSendSge = 1;
  std::uint32_t maxReceiveSge = 1;
  std::uint32_t maxInline = 0;   ///< bytes
  std::optional<SrqHandle> srq;  ///< receives come from there; maxReceiveWr doesn't count
};

}  // namespace hca::driver

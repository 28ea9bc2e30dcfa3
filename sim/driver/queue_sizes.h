// How large a ring software makes for what it was asked for.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/driver/verbs_types.h"

namespace hca::driver {

/// Limits of the device that the sizes depend on, in bytes and blocks of 64 bytes.
struct QueueLimits {
  std::uint32_t maxSendWqe = 1024;           ///< max_wqe_sz_sq, bytes
  std::uint32_t maxReceiveWqe = 512;         ///< max_wqe_sz_rq, bytes
  std::uint32_t maxQueueEntries = 1U << 15;  ///< 1 << log_max_qp_sz: blocks of a send queue, entries of a receive queue
  std::uint32_t maxCqEntries = 1U << 22;     ///< 1 << log_max_cq_sz
  std::uint32_t maxSrqEntries = 1U << 15;    ///< 1 << log_max_srq_sz
};

struct SendQueueSize {
  std::uint32_t blocks = 0;     ///< 64-byte blocks of the ring, a power of two; 0: no send queue
  std::uint32_t maxPosted = 0;  ///< requests that may be outstanding
  std::uint32_t maxGather = 0;  ///< scatter/gather entries a request
  std::uint32_t maxInline = 0;  ///< bytes
};
struct ReceiveQueueSize {
  std::uint32_t entries = 0;    ///< a power of two; 0: no receive queue
  std::uint32_t logStride = 0;  ///< log2 of bytes an entry
  std::uint32_t maxPosted = 0;
  std::uint32_t maxScatter = 0;
};

/// libmlx5's rules (rdma-core providers/mlx5/verbs.c, mlx5_calc_sq_size and mlx5_calc_rq_size): each request is given
/// the room of the largest one its service allows. Empty: refused as EINVAL.
[[nodiscard]] std::optional<SendQueueSize> sendQueueSize(const QpRequest& request, const QueueLimits& limits);
[[nodiscard]] std::optional<ReceiveQueueSize> receiveQueueSize(const QpRequest& request, const QueueLimits& limits);
/// mlx5_create_srq of the same file: one entry stays unposted, and each begins with the link to the next.
[[nodiscard]] std::optional<ReceiveQueueSize> sharedQueueSize(const SrqRequest& request, const QueueLimits& limits);

/// Ring entries for a completion queue of at least `cqe` (create_cq of the same file): the next power of two above
/// `cqe`, of which one entry stays spare. Empty: refused as EINVAL.
[[nodiscard]] std::optional<std::uint32_t> completionQueueEntries(std::int32_t cqe, const QueueLimits& limits);

}  // namespace hca::driver

// A receive queue as software sees it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/driver/queue_sizes.h"
#include "sim/driver/verbs_types.h"

namespace hca::driver {

/// What libmlx5 keeps of a receive queue (rdma-core providers/mlx5/qp.c, mlx5_post_recv). Memory belongs to the caller.
class ReceiveRing {
 public:
  /// `entries`: size.entries entries of 2^size.logStride bytes. `counter`: the receive word of the doorbell record.
  ReceiveRing(std::uint8_t* entries, std::uint8_t* counter, const ReceiveQueueSize& size);

  /// Writes one WQE. kNoMemory: the queue is full; kInvalid: more scatter entries than the queue has.
  VerbsError post(const ReceiveWorkRequest& request);
  /// Writes the receive counter into the doorbell record: the adapter sees what was posted.
  void publish();

  struct Retired {
    std::uint64_t workRequestId = 0;
    std::uint64_t index = 0;  ///< free-running number of the entry
  };
  /// Takes the completion of the entry `wqeCounter`.
  Retired retire(std::uint16_t wqeCounter);

  /// Where the entry `wqeCounter` wants its data; appended.
  void scatterList(std::uint16_t wqeCounter, std::vector<ScatterGather>& list) const;

  [[nodiscard]] std::uint32_t outstanding() const { return static_cast<std::uint32_t>(head_ - tail_); }
  /// Free-running number of the entry posted last.
  [[nodiscard]] std::uint64_t lastIndex() const { return head_ - 1; }
  [[nodiscard]] const ReceiveQueueSize& size() const { return size_; }

 private:
  struct Slot {
    std::uint64_t workRequestId = 0;
    std::uint64_t index = 0;
  };

  std::uint8_t* entries_;
  std::uint8_t* counter_;
  ReceiveQueueSize size_;
  std::vector<Slot> slots_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
};

}  // namespace hca::driver

// A shared receive queue as software sees it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/driver/queue_sizes.h"
#include "sim/driver/receive_ring.h"
#include "sim/driver/verbs_types.h"

namespace hca::driver {

/// What libmlx5 keeps of a shared receive queue (rdma-core providers/mlx5/srq.c): a linked list of entries, of which
/// free ones are taken from the head and given back at the tail, in whatever order they complete. Memory belongs to the
/// caller.
class SharedReceiveRing {
 public:
  /// `entries`: size.entries entries of 2^size.logStride bytes. `counter`: the doorbell record.
  SharedReceiveRing(std::uint8_t* entries, std::uint8_t* counter, const ReceiveQueueSize& size);

  /// Writes one WQE. kNoMemory: no entry is free; kInvalid: more scatter entries than the queue has.
  VerbsError post(const ReceiveWorkRequest& request);
  /// Writes the counter into the doorbell record: the adapter sees what was posted.
  void publish();
  /// Takes the completion of the entry at place `wqeCounter`, which is free from now on.
  ReceiveRing::Retired retire(std::uint16_t wqeCounter);

  /// Where the entry at place `wqeCounter` wants its data; appended.
  void scatterList(std::uint16_t wqeCounter, std::vector<ScatterGather>& list) const;

  [[nodiscard]] std::uint32_t outstanding() const { return static_cast<std::uint32_t>(posted_ - retired_); }
  /// Number of the entry posted last, in the order of posting.
  [[nodiscard]] std::uint64_t lastIndex() const { return posted_ - 1; }
  [[nodiscard]] const ReceiveQueueSize& size() const { return size_; }

 private:
  [[nodiscard]] std::uint16_t nextOf(std::uint16_t place) const;
  void link(std::uint16_t place, std::uint16_t next);

  std::uint8_t* entries_;
  std::uint8_t* counter_;
  ReceiveQueueSize size_;
  std::vector<ReceiveRing::Retired> slots_;  // by place
  std::uint16_t head_ = 0;                   // next free entry
  std::uint16_t tail_ = 0;                   // last free entry; never posted, for its link is not known yet
  std::uint64_t posted_ = 0;
  std::uint64_t retired_ = 0;
};

}  // namespace hca::driver

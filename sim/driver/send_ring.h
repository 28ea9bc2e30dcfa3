// A send queue as software sees it: blocks, WQE building, accounting.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/byte_view.h"
#include "models/base/ids.h"
#include "models/host/bus_address_space.h"
#include "sim/driver/queue_sizes.h"
#include "sim/driver/verbs_types.h"

namespace hca::driver {

/// What libmlx5 keeps of a send queue (rdma-core providers/mlx5/qp.c, _mlx5_post_send). Memory belongs to the caller.
class SendRing {
 public:
  /// `blocks`: size.blocks blocks of 64 bytes. `counter`: the send word of the doorbell record.
  SendRing(std::uint8_t* blocks, std::uint8_t* counter, const SendQueueSize& size, QpNumber qp, QpType type);

  /// Builds one WQE. Inline data are read from `memory`. kNoMemory: the queue is full, more gather entries than the
  /// queue has, or more inline data than it takes; kInvalid: data that `memory` doesn't have, or an opcode that the
  /// service lacks. A refused request leaves the queue as it was.
  VerbsError post(const SendWorkRequest& request, host::MemoryBackend& memory);

  /// What the doorbell has to say after a list of requests was built.
  struct Doorbell {
    const std::uint8_t* wqe = nullptr;  ///< the last request's first block
    std::uint32_t bytes = 0;            ///< its length, a multiple of 16
  };
  /// Writes the send counter into the doorbell record.
  Doorbell ring();

  /// Takes the completion of the request whose first block is `wqeCounter`: it and all older ones are retired.
  struct Retired {
    std::uint64_t workRequestId = 0;
    std::uint64_t index = 0;  ///< free-running index of its first block
    SendOpcode opcode = SendOpcode::kSend;
  };
  Retired retire(std::uint16_t wqeCounter);

  /// Where the read or atomic whose first block is `wqeCounter` wants its data; appended.
  void scatterList(std::uint16_t wqeCounter, std::vector<ScatterGather>& list) const;

  [[nodiscard]] std::uint32_t outstanding() const { return head_ - tail_; }
  /// Free-running index of the first block of the request posted last; of the next one's.
  [[nodiscard]] std::uint64_t lastIndex() const { return lastIndex_; }
  [[nodiscard]] std::uint64_t nextIndex() const { return nextIndex_; }
  [[nodiscard]] const SendQueueSize& size() const { return size_; }

 private:
  struct Slot {
    std::uint64_t workRequestId = 0;
    std::uint64_t index = 0;
    std::uint32_t head = 0;
    SendOpcode opcode = SendOpcode::kSend;
  };
  class Writer;
  [[nodiscard]] VerbsError check(const SendWorkRequest& request, host::MemoryBackend& memory) const;
  void writeWindow(const WindowBind& bind, Writer& writer) const;
  static void writeAtomic(const SendWorkRequest& request, Writer& writer);
  static void writeInline(const SendWorkRequest& request, host::MemoryBackend& memory, Writer& writer);
  static void writeGather(const SendWorkRequest& request, Writer& writer);
  void writeControl(const SendWorkRequest& request, std::uint32_t bytes);

  std::uint8_t* blocks_;
  std::uint8_t* counter_;
  SendQueueSize size_;
  QpNumber qp_;
  QpType type_;
  std::vector<Slot> slots_;  // by first block
  std::uint32_t head_ = 0;   // requests posted
  std::uint32_t tail_ = 0;   // requests retired
  std::uint64_t nextIndex_ = 0;
  std::uint64_t lastIndex_ = 0;
  std::uint32_t lastBytes_ = 0;
  bool smallFence_ = false;  // the request posted last changes a memory key
};

}  // namespace hca::driver

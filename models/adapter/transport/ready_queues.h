// Queue pairs that have something to send, by the port that they send through.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/ids.h"
#include "models/kernel/ring_queue.h"

namespace hca::adapter {

/// Queue pairs of one port take turns, and so do ports. A port without room is passed over.
class ReadyQueues {
 public:
  explicit ReadyQueues(std::size_t ports) : queues_(ports) {}

  /// `port` counts from 1.
  void push(std::uint8_t port, QpNumber qp) {
    queues_[port - 1U].push(qp);
    ++size_;
  }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// The next one of a port with `hasRoom(port)`, if there is any; asks only for ports of which one is ready.
  template <class HasRoom>
  std::optional<QpNumber> pop(HasRoom&& hasRoom) {
    for (std::size_t turn = 0; turn < queues_.size(); ++turn) {
      const std::size_t index = (next_ + turn) % queues_.size();
      if (queues_[index].empty() || !hasRoom(static_cast<std::uint8_t>(index + 1))) continue;
      next_ = (index + 1) % queues_.size();
      --size_;
      return queues_[index].pop();
    }
    return std::nullopt;
  }

 private:
  std::vector<kernel::RingQueue<QpNumber>> queues_;
  std::size_t next_ = 0;
  std::size_t size_ = 0;
};

}  // namespace hca::adapter

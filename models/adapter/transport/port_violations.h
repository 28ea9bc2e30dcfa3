// What a port saw that its partitions and queue keys forbid.
#pragma once

#include <cstdint>

namespace hca::adapter {

/// Counters of PortInfo that stop at their largest value (InfiniBand volume 1, 14.2.5.6, P_KeyViolations and
/// Q_KeyViolations). Traps go to a subnet manager, and there is none.
class PortViolations {
 public:
  void countPartition() { partition_ += partition_ == kMost ? 0 : 1; }
  void countQueueKey() { queueKey_ += queueKey_ == kMost ? 0 : 1; }
  [[nodiscard]] std::uint16_t partition() const { return partition_; }
  [[nodiscard]] std::uint16_t queueKey() const { return queueKey_; }

 private:
  static constexpr std::uint16_t kMost = 0xFFFF;
  std::uint16_t partition_ = 0;
  std::uint16_t queueKey_ = 0;
};

}  // namespace hca::adapter

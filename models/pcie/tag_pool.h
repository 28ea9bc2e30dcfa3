// Tags of outstanding read requests.
#pragma once

#include <cstdint>

#include "models/base/units.h"
#include "models/kernel/ring_queue.h"

namespace hca::pcie {

/// Tags come back at the times at which completions arrive, in order; those times are known ahead, so a tag that comes
/// back needs no event unless somebody waits for it. SystemC-free.
class TagPool {
 public:
  explicit TagPool(std::uint32_t tags) : size_(tags), free_(tags) {}

  [[nodiscard]] std::uint32_t available(Time now) {
    while (!returns_.empty() && returns_.front() <= now) {
      returns_.pop();
      ++free_;
    }
    return free_;
  }
  /// Takes `count` consecutive tags and gives the first. Precondition: count <= available(now).
  std::uint16_t take(std::uint32_t count) {
    const auto first = static_cast<std::uint16_t>(next_);
    free_ -= count;
    next_ = (next_ + count) % size_;
    return first;
  }
  /// The oldest tag in use is free from `when` on, or from the time of the one before, if that is later.
  void giveBack(Time when) {
    last_ = later(last_, when);
    returns_.push(last_);
  }
  /// When the next tag comes back; kForever if no completion is on its way.
  [[nodiscard]] Time nextReturn() { return returns_.empty() ? kForever : returns_.front(); }

 private:
  std::uint32_t size_;
  std::uint32_t free_;
  std::uint32_t next_ = 0;
  Time last_{};
  kernel::RingQueue<Time> returns_;
};

}  // namespace hca::pcie

// How full a completion queue is, as far as the adapter knows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/adapter/event/ring_index.h"

namespace hca::adapter {

/// Producer and consumer of one ring. The consumer index is a copy of the doorbell record, which is read only when it
/// matters; an arm's index is noted apart: software that never writes its record (legal when overrun is ignored) still
/// arms with a true index.
class RingOccupancy {
 public:
  explicit RingOccupancy(unsigned logSize) : size_(std::uint64_t{1} << logSize) {}

  /// As if `index` entries had been written and consumed; before the first one.
  void startAt(std::uint64_t index) { produced_ = record_ = arm_ = explained_ = index; }

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t produced() const { return produced_; }
  /// As the doorbell record last had it.
  [[nodiscard]] std::uint64_t consumed() const { return record_; }
  /// Whether the next entry would overwrite one that is not known to be consumed.
  [[nodiscard]] bool looksFull() const { return produced_ - record_ >= size_; }

  void produce() { ++produced_; }
  /// Whether a ring of 2^logSize entries has room for all that is not known to be consumed.
  [[nodiscard]] bool fits(unsigned logSize) const { return produced_ - record_ <= std::uint64_t{1} << logSize; }
  /// The resize entry was written and the ring is another one. Software moves its unread entries one index up, over the
  /// index of the resize entry, so that its consumer index grows by one, too: the resize entry takes no room in the new
  /// ring. Precondition: !looksFull() and fits(logSize).
  void resize(unsigned logSize);

  /// The doorbell record's consumer index. False if it lies ahead of the producer: then it is not believed.
  bool learnRecord(std::uint32_t consumerIndex);
  /// The consumer index of an arm; nonsense is not believed.
  void learnArm(std::uint32_t consumerIndex);

  /// Most unread entries at any time at which the consumer index was learnt; all entries if it never was.
  [[nodiscard]] std::uint64_t highWater() const { return learnt_ ? highWater_ : produced_; }

  /// A run of entries.
  struct Lost {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  /// Whether entries were overwritten of which nobody knows yet whether they had been read.
  [[nodiscard]] bool overwriteUnexplained() const { return overwritten() > std::max({record_, arm_, explained_}); }
  /// The record is being read: the answer will explain what has been overwritten by now.
  void beginExplaining() { explaining_ = overwritten(); }
  /// The answer was learnt: which of those entries were overwritten unread.
  Lost endExplaining();

 private:
  /// Index after the last entry whose slot was used again.
  [[nodiscard]] std::uint64_t overwritten() const { return produced_ > size_ ? produced_ - size_ : 0; }
  void sample(std::uint64_t consumer);

  std::uint64_t size_;
  std::uint64_t produced_ = 0;
  std::uint64_t record_ = 0;
  std::uint64_t arm_ = 0;
  std::uint64_t explained_ = 0;
  std::uint64_t explaining_ = 0;
  std::uint64_t highWater_ = 0;
  bool learnt_ = false;
};

}  // namespace hca::adapter

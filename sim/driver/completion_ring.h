// A completion queue as software sees it: ring, consumer index, arm word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>

#include "models/base/byte_view.h"
#include "models/base/ids.h"
#include "models/kernel/ring_queue.h"
#include "models/wire/cqe.h"
#include "sim/driver/cqe_expander.h"

namespace hca::driver {

/// What libmlx5 keeps of a completion queue (rdma-core providers/mlx5/cq.c). Memory belongs to the caller.
class CompletionRing {
 public:
  /// `entries`: 2^logSize entries of `stride` bytes (32, 64 or 128). `record`: the 8-byte doorbell record.
  CompletionRing(std::uint8_t* entries, std::uint8_t* record, unsigned logSize, std::uint32_t stride,
                 const CqCompression& compression = {});

  /// Makes every entry invalid and the record zero, before the adapter learns of the ring.
  void initialise();

  /// Goes on as if `index` entries had been consumed; before the first one, and behind initialise().
  void startAt(std::uint64_t index) {
    consumerIndex_ = index;
    publish();
  }

  /// Whether the entry at the consumer index is software's.
  [[nodiscard]] bool ready() const { return !staged_.empty() || isOwned(consumerIndex_); }
  /// Takes the entry at the consumer index. Precondition: ready().
  wire::Cqe take() {
    if (expander_) return takeExpanded();
    return cqeAt(consumerIndex_++);
  }
  /// User index of the entry at the consumer index; of a ring with compression it may be anything: a hint.
  [[nodiscard]] std::uint32_t nextUserIndex() const { return userIndexOf(entryEnd(consumerIndex_)); }
  /// The same of the entry that ends `end` bytes into the ring.
  [[nodiscard]] std::uint32_t userIndexBefore(std::uint64_t end) const {
    return end < sizeof(wire::Cqe) ? 0 : userIndexOf(entries_ + end);
  }
  /// The data that came in `cqe`, the entry taken last; empty if there are none. Valid until publish().
  [[nodiscard]] ByteView inlineData(const wire::Cqe& cqe) const;
  /// Tells the adapter the consumer index, through the record.
  void publish();
  /// Drops the entries of a queue pair that is gone (libmlx5: mlx5_cq_clean) and tells the adapter.
  /// `userIndex`: the queue pair's. `onDropped` is called with each, youngest first. Returns how many there were.
  std::uint32_t clean(std::uint32_t userIndex, const std::function<void(const wire::Cqe&)>& onDropped = {});

  /// Makes every entry of a ring invalid, before the adapter learns of it.
  static void invalidate(std::uint8_t* entries, unsigned logSize, std::uint32_t stride);
  /// After a resize: copies the entries that were not consumed, up to the resize entry, into the new ring and goes on
  /// there (libmlx5: mlx5_cq_resize_copy_cqes). The resize entry takes an index, so each is copied one index up. The
  /// new ring was invalidated before the adapter learnt of it. Returns how many were copied; nothing, and changes
  /// nothing of use, if there is no resize entry.
  std::optional<std::uint32_t> moveTo(std::uint8_t* entries, unsigned logSize);

  /// Writes the arm word of the record and returns the doorbell register's value (host order of the big-endian word).
  std::uint64_t arm(CqNumber cq, bool solicitedOnly);
  /// An event was taken from the channel: the next arm is a new one.
  void countEvent() { ++sequenceNumber_; }

  /// Free-running, never wrapped.
  [[nodiscard]] std::uint64_t consumerIndex() const { return consumerIndex_; }
  [[nodiscard]] std::uint8_t sequenceNumber() const { return sequenceNumber_ & 3; }
  [[nodiscard]] std::uint32_t entries() const { return std::uint32_t{1} << logSize_; }

 private:
  wire::Cqe takeExpanded();
  /// Index of the entry that is read from the ring next.
  [[nodiscard]] std::uint64_t readIndex() const { return consumerIndex_ + staged_.size(); }
  /// Takes everything up to a resize entry out of the ring.
  void stageAll();
  [[nodiscard]] bool isResize(std::uint64_t index) const;
  std::uint32_t cleanStaged(std::uint32_t userIndex, const std::function<void(const wire::Cqe&)>& onDropped);

  [[nodiscard]] bool isOwned(std::uint64_t index) const {
    if (expander_) return expander_->isOwned(entryEnd(index), index, logSize_);
    return wire::isSoftwareOwned(entryEnd(index)[-1], static_cast<std::uint32_t>(index), logSize_);
  }
  static std::uint32_t userIndexOf(const std::uint8_t* entryEnd) {
    const std::uint8_t* const entry = entryEnd - sizeof(wire::Cqe);
    return wire::Cqe::UserIndex::get(structFrom<decltype(wire::Cqe::userIndex)>(
        {entry + offsetof(wire::Cqe, userIndex), sizeof(wire::Cqe::userIndex)}));
  }
  /// What an entry of 32 bytes leaves out is zero.
  [[nodiscard]] wire::Cqe cqeAt(std::uint64_t index) const {
    const std::uint8_t* const end = entryEnd(index);
    if (stride_ >= sizeof(wire::Cqe)) return structFrom<wire::Cqe>({end - sizeof(wire::Cqe), sizeof(wire::Cqe)});
    wire::Cqe cqe;
    static_assert(offsetof(wire::Cqe, userIndex) == sizeof cqe - wire::kShortCqeSize);
    auto* const bytes = reinterpret_cast<std::uint8_t*>(&cqe);
    std::memcpy(bytes + offsetof(wire::Cqe, userIndex), end - wire::kShortCqeSize, wire::kShortCqeSize);
    return cqe;
  }
  [[nodiscard]] std::uint8_t* entryEnd(std::uint64_t index) const {
    return entries_ + ((index & (entries() - 1)) + 1) * stride_;
  }

  std::uint8_t* entries_;
  std::uint8_t* record_;
  unsigned logSize_;
  std::uint32_t stride_;
  std::uint64_t consumerIndex_ = 0;
  std::uint8_t sequenceNumber_ = 0;
  std::optional<CqeExpander> expander_;  // of a queue with compression
  kernel::RingQueue<wire::Cqe> staged_;  // entries that were read and not taken yet; of such a queue alone
};

}  // namespace hca::driver

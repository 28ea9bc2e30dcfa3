// An event queue as the driver sees it.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>

#include "models/base/ids.h"
#include "models/wire/doorbell.h"
#include "models/wire/eqe.h"
#include "sim/driver/dma_memory.h"

namespace hca::driver {

/// Ring and consumer index of one event queue. Linux drivers/net/ethernet/mellanox/mlx5/core/eq.c.
class EventRing {
 public:
  /// Entries beyond those asked for, and how often at the latest the adapter must hear of the consumer index.
  static constexpr std::uint32_t kSpareEntries = 128;

  /// `buffer` holds 2^logSize entries.
  EventRing(const DmaBuffer& buffer, unsigned logSize) : buffer_(buffer), logSize_(logSize) {}

  /// Gives every entry to the adapter, before it learns of the ring.
  void initialise() {
    for (std::uint32_t index = 0; index < entries(); ++index) slot(index)[offsetof(wire::Eqe, owner)] = 1;
  }
  /// The entry at the consumer index, if it is software's.
  [[nodiscard]] std::optional<wire::Eqe> next() const {
    const auto eqe = structFrom<wire::Eqe>({slot(consumerIndex_), sizeof(wire::Eqe)});
    if (wire::Eqe::Owner::get(eqe.owner) != wire::eventOwnerBit(consumerIndex_, logSize_)) return std::nullopt;
    return eqe;
  }
  void consume() {
    ++consumerIndex_;
    ++unreported_;
  }
  /// Entries consumed since `doorbell` was called.
  [[nodiscard]] std::uint32_t unreported() const { return unreported_; }
  /// The word for either register of the queue.
  std::uint32_t doorbell(EqNumber number) {
    unreported_ = 0;
    wire::EqDoorbell word;
    word.eq = static_cast<std::uint8_t>(number.value());
    word.consumerIndex = consumerIndex_ & 0xFFFFFF;
    return word.word();
  }

  [[nodiscard]] const DmaBuffer& buffer() const { return buffer_; }
  [[nodiscard]] unsigned logSize() const { return logSize_; }
  [[nodiscard]] std::uint32_t consumerIndex() const { return consumerIndex_; }

 private:
  [[nodiscard]] std::uint32_t entries() const { return std::uint32_t{1} << logSize_; }
  [[nodiscard]] std::uint8_t* slot(std::uint32_t index) const {
    return buffer_.bytes + std::size_t{index & (entries() - 1)} * sizeof(wire::Eqe);
  }

  DmaBuffer buffer_;
  unsigned logSize_;
  std::uint32_t consumerIndex_ = 0;
  std::uint32_t unreported_ = 0;
};

}  // namespace hca::driver

// The slots of a ring out of a dump.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/byte_view.h"

namespace hca::dump {

/// A ring of 2^logSize slots of which the first `count` were dumped. `bytes` outlives it.
class RingSlots {
 public:
  RingSlots(ByteView bytes, std::size_t slotSize, unsigned logSize)
      : bytes_(bytes), slotSize_(slotSize), logSize_(logSize) {}

  [[nodiscard]] std::uint64_t size() const { return std::uint64_t{1} << logSize_; }
  [[nodiscard]] unsigned logSize() const { return logSize_; }
  [[nodiscard]] std::size_t slotSize() const { return slotSize_; }
  [[nodiscard]] std::uint64_t slotOf(std::uint64_t index) const { return index & (size() - 1); }
  [[nodiscard]] bool has(std::uint64_t index) const { return (slotOf(index) + 1) * slotSize_ <= bytes_.size(); }
  /// Precondition: has(index).
  [[nodiscard]] ByteView at(std::uint64_t index) const { return bytes_.subview(slotOf(index) * slotSize_, slotSize_); }

 private:
  ByteView bytes_;
  std::size_t slotSize_;
  unsigned logSize_;
};

}  // namespace hca::dump

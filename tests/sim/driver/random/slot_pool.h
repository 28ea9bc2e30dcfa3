// Pieces of a program's registered buffer.
#pragma once

#include <cstdint>
#include <vector>

namespace hca::test {

/// Two sizes of slots. One that was given back is handed out again after `recycle` alone, so that what is still on its
/// way into it does no harm.
class SlotPool {
 public:
  static constexpr std::uint32_t kSmall = 512, kLarge = 32768;
  static constexpr std::uint32_t kSmallCount = 4096, kLargeCount = 256;
  static constexpr std::uint64_t kBytes = std::uint64_t{kSmall} * kSmallCount + std::uint64_t{kLarge} * kLargeCount;

  void start(std::uint64_t address) {
    largeFrom_ = address + std::uint64_t{kSmall} * kSmallCount;
    for (std::uint32_t i = kSmallCount; i-- > 0;) small_.push_back(address + std::uint64_t{kSmall} * i);
    for (std::uint32_t i = kLargeCount; i-- > 0;) large_.push_back(largeFrom_ + std::uint64_t{kLarge} * i);
  }
  /// 0: none is left.
  std::uint64_t take(std::uint32_t length) {
    std::vector<std::uint64_t>& from = length <= kSmall ? small_ : large_;
    if (from.empty()) return 0;
    const std::uint64_t slot = from.back();
    from.pop_back();
    return slot;
  }
  void giveBack(std::uint64_t slot) {
    if (slot != 0) given_.push_back(slot);
  }
  void recycle() {
    for (const std::uint64_t slot : given_) (slot < largeFrom_ ? small_ : large_).push_back(slot);
    given_.clear();
  }

 private:
  std::uint64_t largeFrom_ = 0;
  std::vector<std::uint64_t> small_, large_, given_;
};

}  // namespace hca::test

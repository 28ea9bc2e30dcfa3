// Numbers for objects, handed out densely and not reused at once.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace hca::adapter {

/// Hands out [first, first + count). A released number comes back only after `quarantine` others were released, or when
/// no fresh one is left: late references to a destroyed object then meet nothing instead of a stranger.
class IndexAllocator {
 public:
  IndexAllocator(std::uint32_t first, std::uint32_t count, std::uint32_t quarantine = kDefaultQuarantine);

  /// Empty when all are in use.
  [[nodiscard]] std::optional<std::uint32_t> allocate();
  /// Precondition: allocated.
  void release(std::uint32_t index);
  /// Everything is free, as at construction.
  void reset();

  [[nodiscard]] std::uint32_t first() const { return first_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  static constexpr std::uint32_t kDefaultQuarantine = 64;

  std::uint32_t first_;
  std::uint32_t count_;
  std::uint32_t quarantine_;
  std::uint32_t fresh_ = 0;  // numbers never handed out start at first_ + fresh_
  std::deque<std::uint32_t> released_;
};

}  // namespace hca::adapter

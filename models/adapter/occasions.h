// Which of many like happenings go wrong.
#pragma once

#include <cstdint>

namespace hca::adapter {

/// The first `after` happenings are spared, the next `count` go wrong, and then it is over.
struct Occasions {
  std::uint32_t after = 0;
  std::uint32_t count = 1;

  [[nodiscard]] bool isOver() const { return count == 0; }
  /// Counts one; whether it goes wrong.
  bool take() {
    if (isOver()) return false;
    if (after != 0) return --after, false;
    --count;
    return true;
  }
};

}  // namespace hca::adapter

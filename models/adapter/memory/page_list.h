// A buffer that the driver handed over as a list of pages.
#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "models/base/ids.h"

namespace hca::adapter {

/// A ring in host memory: equal pages of 2^logPageSize bytes, starting `offset` bytes into the first.
struct PageList {
  std::vector<BusAddress> pages;
  std::uint8_t logPageSize = 12;
  std::uint32_t offset = 0;

  /// Bus address of byte `at` of the ring.
  [[nodiscard]] BusAddress address(std::uint64_t at) const {
    const std::uint64_t position = at + offset;
    const std::uint64_t page = position >> logPageSize;
    assert(page < pages.size());
    return advance(pages[page], position & ((std::uint64_t{1} << logPageSize) - 1));
  }
  /// Bytes reachable from `offset`.
  [[nodiscard]] std::uint64_t size() const { return (pages.size() << logPageSize) - offset; }
};

}  // namespace hca::adapter

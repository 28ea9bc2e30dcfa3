// Pages of host memory that the adapter asked for.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/driver/dma_memory.h"

namespace hca::driver {

/// Keeps what was given until it comes back. Linux drivers/net/ethernet/mellanox/mlx5/core/pagealloc.c.
class PagePool {
 public:
  explicit PagePool(DmaMemory& memory) : memory_(memory) {}
  ~PagePool() {
    for (const auto& [address, page] : given_) memory_.free(page);
  }
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  /// Bus addresses of `count` new pages of 4 KiB.
  std::vector<BusAddress> take(std::uint32_t count) {
    std::vector<BusAddress> pages;
    for (std::uint32_t i = 0; i < count; ++i) {
      const DmaBuffer page = memory_.allocate(host::BusAddressSpace::kPageSize);
      given_.emplace(page.bus, page);
      pages.push_back(page.bus);
    }
    return pages;
  }
  /// False if the page was not given.
  bool giveBack(BusAddress address) {
    const auto at = given_.find(address);
    if (at == given_.end()) return false;
    memory_.free(at->second);
    given_.erase(at);
    return true;
  }
  /// Pages that the adapter holds.
  [[nodiscard]] std::size_t given() const { return given_.size(); }

 private:
  DmaMemory& memory_;
  std::map<BusAddress, DmaBuffer> given_;
};

}  // namespace hca::driver

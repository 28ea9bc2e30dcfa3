// The bookkeeping of a bus address space: who mapped what.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "models/base/ids.h"
#include "models/host/bus_address_space.h"

namespace hca::host {

/// A range of an owner's memory on consecutive pages of the bus.
struct BusMapping {
  OwnerId owner;
  MemoryBackend* backend = nullptr;
  std::uint64_t firstPage = 0;  // on the bus
  std::uint64_t pages = 0;      // as mapped
  std::uint64_t livePages = 0;  // still mapped
  std::uint64_t address = 0;    // the owner's, first byte
  std::uint64_t length = 0;     // accessible bytes
  bool isShared = false;        // may serve a further `map` of bytes within it

  [[nodiscard]] std::uint64_t ownerAddress(std::uint64_t page, std::uint64_t offset) const {
    return (address & ~(BusAddressSpace::kPageSize - 1)) + (page - firstPage) * BusAddressSpace::kPageSize + offset;
  }
};

/// Whoever's memory is mapped.
struct BusOwner {
  std::string name;
  MemoryBackend* backend = nullptr;  // nullptr: removed
  std::set<std::uint32_t> mappings;
  // Shared mappings by (length class, first address). A mapping of class c that covers an address starts less than
  // 2^(c+1) before it, so few candidates of each class need a look.
  std::multimap<std::pair<unsigned, std::uint64_t>, std::uint32_t> byLength;
};

}  // namespace hca::host

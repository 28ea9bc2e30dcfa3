// A buffer as a list of pages.
#pragma once

#include <cstdint>

#include "models/adapter/memory/page_list.h"
#include "sim/driver/dma_memory.h"

namespace hca::driver {

/// The pages of 4 KiB that hold the first `length` bytes of `buffer`.
inline adapter::PageList pageListOf(const DmaBuffer& buffer, std::uint64_t length) {
  constexpr std::uint64_t kPage = host::BusAddressSpace::kPageSize;
  adapter::PageList list;
  for (std::uint64_t at = 0; at < length; at += kPage) list.pages.push_back(advance(buffer.bus, at));
  return list;
}

}  // namespace hca::driver

#include "models/adapter/event/ring_pages.h"

namespace hca::adapter {

bool ringPagesFit(const PageList& ring, unsigned logEntries, std::uint32_t entryBytes) {
  constexpr unsigned kLogSmallestPage = 12;
  constexpr unsigned kLogLargestPage = 43;  // log_page_size has 5 bits, in units of 2^12
  if (ring.logPageSize < kLogSmallestPage || ring.logPageSize > kLogLargestPage) return false;
  const std::uint64_t pageBytes = std::uint64_t{1} << ring.logPageSize;
  if (ring.pages.empty() || ring.offset >= pageBytes || ring.offset % entryBytes != 0) return false;
  for (const BusAddress page : ring.pages) {
    if (page.value() % pageBytes != 0) return false;
  }
  return ring.size() >= std::uint64_t{entryBytes} << logEntries;
}

}  // namespace hca::adapter

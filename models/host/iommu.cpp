#include "models/host/iommu.h"

#include <algorithm>

namespace hca::host {

Iommu::Iommu(const IommuConfig& config)
    : pageBits_(static_cast<unsigned>(config.pageSize)),
      walkLatency_(config.walkLatency),
      iotlb_(static_cast<std::uint32_t>(config.iotlbEntries), 0, kernel::Replacement::kLeastRecentlyUsed),
      walkers_(static_cast<std::size_t>(config.walkers)) {}

Time Iommu::translate(BusAddress address, Time arrival) {
  const std::uint64_t page = address.value() >> pageBits_;
  if (const Time* known = iotlb_.find(page)) {
    ++counters_.hits;
    return later(arrival, *known);
  }
  ++counters_.misses;
  Time& walker = *std::min_element(walkers_.begin(), walkers_.end());
  walker = later(walker, arrival) + walkLatency_;
  if (iotlb_.insert(page, walker)) ++counters_.evictions;
  return walker;
}

}  // namespace hca::host

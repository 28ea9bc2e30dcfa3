// Translates the addresses that a device uses.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/ids.h"
#include "models/base/units.h"
#include "models/host/cache_counters.h"
#include "models/host/iommu_config.h"
#include "models/kernel/associative_table.h"

namespace hca::host {

/// The root complex's cache of translations (IOTLB) and its page walkers: only time, since bus addresses are what they
/// translate to. Accesses come in the order of their arrival; one that hits isn't held up by walks under way, one to a
/// page that is being walked waits for that walk.
class Iommu {
 public:
  explicit Iommu(const IommuConfig& config);

  /// When the translation is there of an access to one page that arrives at `arrival`, not before an earlier one.
  [[nodiscard]] Time translate(BusAddress address, Time arrival);
  [[nodiscard]] const CacheCounters& counters() const { return counters_; }

 private:
  unsigned pageBits_;
  Time walkLatency_;
  kernel::AssociativeTable<Time> iotlb_;  // when the translation is there
  std::vector<Time> walkers_;             // when each is free
  CacheCounters counters_;
};

}  // namespace hca::host

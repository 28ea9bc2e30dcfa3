// Section [iommu]: translation of the addresses that a device uses.
#pragma once

#include <cstdint>

#include "models/base/config_key.h"
#include "models/base/units.h"
#include "models/host/page_size.h"

namespace hca::host {

struct IommuConfig {
  bool enabled = false;
  PageSize pageSize = PageSize::k4KiB;
  std::int64_t iotlbEntries = 64;
  Time walkLatency = nanoseconds(230);
  std::int64_t walkers = 4;

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    key("enabled", self.enabled, "Every access of the adapter to host memory is translated");
    key("page_size", self.pageSize, "Memory that one translation covers");
    key("iotlb_entries", self.iotlbEntries, range<std::int64_t>(1, 1 << 20),
        "Translations that the root complex remembers: the least recently used one makes room");
    key("walk_latency", self.walkLatency, range(Time(0), microseconds(100)),
        "From the start of a page walk until its translation is there");
    key("walkers", self.walkers, range<std::int64_t>(1, 1024), "Page walks at a time; others wait");
  }
};

}  // namespace hca::host

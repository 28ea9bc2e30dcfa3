// Section [iommu]: translation of the addresses that a device uses.
#pragma once

#include <cstdint>
#include <utility>

#include "models/base/config_key.h"
#include "models/base/units.h"

namespace hca::host {

/// What one translation covers.
enum class IommuPage : std::uint8_t { k4KiB = 12, k2MiB = 21, k1GiB = 30 };

struct IommuConfig {
  bool enabled = false;
  IommuPage pageSize = IommuPage::k4KiB;
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

template <>
struct hca::config::EnumNames<hca::host::IommuPage> {
  static constexpr std::pair<const char*, hca::host::IommuPage> kNames[] = {{"4KiB", hca::host::IommuPage::k4KiB},
                                                                            {"2MiB", hca::host::IommuPage::k2MiB},
                                                                            {"1GiB", hca::host::IommuPage::k1GiB}};
};

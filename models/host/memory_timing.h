// What an access of the adapter waits for in host memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "models/base/ids.h"
#include "models/base/units.h"
#include "models/host/iommu.h"
#include "models/host/last_level_cache.h"
#include "models/host/memory_config.h"

namespace hca::host {

/// Translation, cache and distance: the delays beyond the root complex's own latencies. Accesses come in the order of
/// their arrival and don't cross 4 KiB.
class MemoryTiming {
 public:
  MemoryTiming(const IommuConfig& iommu, const MemoryConfig& memory);

  /// Who wrote last what a device reads.
  enum class Source : std::uint8_t {
    kSoftware,  ///< just before: work requests, doorbell records, commands
    kPayload,   ///< software, as [memory] fresh_payload says
    kUnknown,
  };

  /// Whether these sections delay anything: if not, the root complex needs no MemoryTiming.
  [[nodiscard]] static bool delays(const IommuConfig& iommu, const MemoryConfig& memory);

  [[nodiscard]] Time readDelay(BusAddress address, std::uint32_t length, Source source, Time arrival);
  [[nodiscard]] Time writeDelay(BusAddress address, std::uint32_t length, Time arrival);

  /// [address, address + length) is at `node`, other than [memory] says. Ranges don't overlap.
  void setNode(BusAddress address, std::uint64_t length, MemoryNode node);
  /// Software writes the range.
  void warm(BusAddress address, std::uint64_t length);
  /// The range is flushed out of the cache.
  void chill(BusAddress address, std::uint64_t length);

  /// nullptr: there is none.
  [[nodiscard]] const Iommu* iommu() const { return iommu_ ? &*iommu_ : nullptr; }
  [[nodiscard]] const LastLevelCache* cache() const { return cache_ ? &*cache_ : nullptr; }

 private:
  struct Range {
    std::uint64_t end;
    MemoryNode node;
  };
  [[nodiscard]] bool isRemote(BusAddress address) const;
  [[nodiscard]] Time translationDelay(BusAddress address, Time arrival);

  MemoryConfig config_;
  std::optional<Iommu> iommu_;
  std::optional<LastLevelCache> cache_;
  std::map<std::uint64_t, Range> nodes_;  // by first address
};

}  // namespace hca::host

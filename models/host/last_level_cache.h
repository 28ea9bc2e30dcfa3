// Which lines of host memory are in the processor's last-level cache.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/units.h"
#include "models/host/cache_counters.h"

namespace hca::host {

/// A set-associative cache of 64-byte lines with direct data I/O: reads of a device take what is there and allocate
/// nothing; its writes update a line that is there, else allocate in some of the ways alone (Intel Data Direct I/O
/// Technology, a primer, 2012). A processor's accesses allocate in all ways. Replaces the least recently used line.
class LastLevelCache {
 public:
  static constexpr std::uint64_t kLine = 64;

  enum class Write : std::uint8_t {
    kCached,       ///< the line was there, or took a place that nothing had to be written back for
    kWroteBack,    ///< a changed line was written back to memory first
    kWentThrough,  ///< no way is open to the device: to memory
  };

  /// `size` > 0; rounded down to whole sets, one at least. `deviceWays` of the `ways` are open to devices.
  LastLevelCache(Bytes size, std::uint32_t ways, std::uint32_t deviceWays);

  // `line` is the address divided by kLine.

  /// A device reads: whether the line is there.
  bool read(std::uint64_t line);
  Write write(std::uint64_t line);
  /// Software writes: the line is there, and changed.
  void touch(std::uint64_t line);
  /// Out of the cache, written back if need be.
  void drop(std::uint64_t line);

  [[nodiscard]] const CacheCounters& reads() const { return reads_; }
  [[nodiscard]] const CacheCounters& writes() const { return writes_; }

 private:
  static constexpr std::uint64_t kNoLine = ~std::uint64_t{0};
  struct Place {
    std::uint64_t line = kNoLine;
    std::uint64_t lastUse = 0;
    bool changed = false;
  };

  [[nodiscard]] Place* setOf(std::uint64_t line) { return &places_[line % sets_ * ways_]; }
  Place* find(std::uint64_t line);
  /// The least recently used of the first `ways` places of the line's set; an empty one if there is one.
  Place& victim(std::uint64_t line, std::uint32_t ways);

  std::uint64_t ways_;
  std::uint32_t deviceWays_;
  std::uint64_t sets_;
  std::uint64_t uses_ = 0;
  std::vector<Place> places_;
  CacheCounters reads_;
  CacheCounters writes_;
};

}  // namespace hca::host

// Memory inside the adapter (MEMIC).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "models/adapter/command/command_result.h"
#include "models/base/byte_view.h"
#include "models/base/ids.h"
#include "models/base/units.h"
#include "models/wire/mmio_map.h"

namespace hca::adapter {

/// Bytes and who may use them. Places are offsets in BAR0, as drivers name them. SystemC-free; acts at once.
class DeviceMemory {
 public:
  static constexpr unsigned kLogMinAllocation = 6;  ///< what stock drivers round to
  static constexpr unsigned kLogMaxAlignment = 6;   ///< of units of the smallest allocation: a page
  static constexpr std::uint64_t kFirst = wire::kDeviceMemoryOffset;

  /// `size`: at most wire::kMaxDeviceMemory.
  explicit DeviceMemory(Bytes size) : size_(static_cast<std::uint32_t>(size.count())) {}

  /// Finds room for `length` bytes within `range`, lowest first. Lengths are multiples of the smallest allocation; so
  /// are places, of that many times 2^logAlignment (Linux drivers/infiniband/hw/mlx5/dm.c, mlx5_cmd_alloc_memic).
  struct Range {
    std::uint64_t start;
    std::uint64_t length;
  };
  CommandResult allocate(const Range& range, std::uint32_t length, unsigned logAlignment, std::uint64_t& start);
  /// Of exactly what `allocate` gave. kResourceBusy while keys are of it.
  CommandResult free(std::uint64_t start, std::uint32_t length);

  /// Whether [start, start + length) lies within one allocation.
  [[nodiscard]] bool isAllocated(std::uint64_t start, std::uint64_t length) const;
  /// A key is of the allocation around `start`, or is no longer. Precondition: isAllocated(start, 0).
  void hold(std::uint64_t start) { ++around(start)->second.holds; }
  void drop(std::uint64_t start) { --around(start)->second.holds; }

  /// What lies beyond the memory's end is lost, and reads as zero.
  void write(std::uint64_t start, ByteView bytes);
  void read(std::uint64_t start, MutableByteView into) const;
  /// The bytes themselves; empty if they aren't all there.
  [[nodiscard]] ByteView view(std::uint64_t start, std::uint32_t length) const;

  [[nodiscard]] std::uint32_t size() const { return size_; }
  /// Bytes that are allocated.
  [[nodiscard]] std::uint64_t used() const;
  /// Nothing is allocated; all bytes are zero.
  void reset();

  /// The blocks of the adapter name it by bus addresses that no host has: hosts have 48 bits.
  [[nodiscard]] static constexpr BusAddress busAddress(std::uint64_t start) { return BusAddress(kWindow | start); }
  [[nodiscard]] static constexpr bool isInside(BusAddress address) { return (address.value() & kWindow) != 0; }
  [[nodiscard]] static constexpr std::uint64_t placeOf(BusAddress address) { return address.value() & ~kWindow; }

 private:
  static constexpr std::uint64_t kWindow = std::uint64_t{1} << 63;

  struct Allocation {
    std::uint32_t length;
    std::uint32_t holds = 0;
  };
  using Allocations = std::map<std::uint64_t, Allocation>;
  /// The last allocation that doesn't start behind `start`; end() if there is none.
  [[nodiscard]] Allocations::iterator around(std::uint64_t start);
  [[nodiscard]] std::size_t reachable(std::uint64_t start, std::size_t length) const;

  std::uint32_t size_;
  std::vector<std::uint8_t> bytes_;  // none before somebody asks for some
  Allocations allocations_;          // by start
};

}  // namespace hca::adapter

#include "models/adapter/memory/device_memory.h"

#include <algorithm>
#include <iterator>

namespace hca::adapter {

CommandResult DeviceMemory::allocate(const Range& range, std::uint32_t length, unsigned logAlignment,
                                     std::uint64_t& start) {
  const std::uint64_t end = kFirst + size_;
  if (range.start < kFirst || range.start > end || range.length > end - range.start) {
    return {CommandStatus::kBadParameter, Syndrome::kDeviceMemoryRangeBad};
  }
  if (length == 0 || length % (1U << kLogMinAllocation) != 0 || length > range.length) {
    return {CommandStatus::kBadParameter, Syndrome::kDeviceMemorySizeBad};
  }
  if (logAlignment > kLogMaxAlignment) return {CommandStatus::kBadParameter, Syndrome::kDeviceMemoryAlignmentBad};
  const std::uint64_t alignment = std::uint64_t{1} << (kLogMinAllocation + logAlignment);
  const auto aligned = [alignment](std::uint64_t place) { return (place + alignment - 1) / alignment * alignment; };
  std::uint64_t candidate = aligned(range.start);
  for (const auto& [place, allocation] : allocations_) {
    if (place >= candidate + length) break;
    candidate = std::max(candidate, aligned(place + allocation.length));
  }
  if (candidate + length > range.start + range.length) {
    return {CommandStatus::kNoResources, Syndrome::kDeviceMemoryFull};
  }
  if (bytes_.empty()) bytes_.resize(size_);
  allocations_.emplace(candidate, Allocation{length});
  start = candidate;
  return {};
}

CommandResult DeviceMemory::free(std::uint64_t start, std::uint32_t length) {
  const auto at = allocations_.find(start);
  if (at == allocations_.end() || at->second.length != length) {
    return {CommandStatus::kBadResource, Syndrome::kUnknownDeviceMemory};
  }
  if (at->second.holds != 0) return {CommandStatus::kResourceBusy, Syndrome::kDeviceMemoryInUse};
  allocations_.erase(at);
  return {};
}

DeviceMemory::Allocations::iterator DeviceMemory::around(std::uint64_t start) {
  const auto after = allocations_.upper_bound(start);
  return after == allocations_.begin() ? allocations_.end() : std::prev(after);
}

bool DeviceMemory::isAllocated(std::uint64_t start, std::uint64_t length) const {
  const auto at = const_cast<DeviceMemory*>(this)->around(start);
  if (at == allocations_.end()) return false;
  const std::uint64_t skipped = start - at->first;
  return skipped < at->second.length && length <= at->second.length - skipped;
}

std::size_t DeviceMemory::reachable(std::uint64_t start, std::size_t length) const {
  if (start < kFirst || start - kFirst >= bytes_.size()) return 0;
  return std::min<std::size_t>(length, bytes_.size() - (start - kFirst));
}

void DeviceMemory::write(std::uint64_t start, ByteView bytes) {
  const std::size_t length = reachable(start, bytes.size());
  if (length != 0) std::copy_n(bytes.data(), length, bytes_.data() + (start - kFirst));
}

void DeviceMemory::read(std::uint64_t start, MutableByteView into) const {
  const std::size_t length = reachable(start, into.size());
  if (length != 0) std::copy_n(bytes_.data() + (start - kFirst), length, into.data());
  std::fill(into.data() + length, into.data() + into.size(), std::uint8_t{0});
}

ByteView DeviceMemory::view(std::uint64_t start, std::uint32_t length) const {
  if (reachable(start, length) != length) return {};
  return {bytes_.data() + (start - kFirst), length};
}

std::uint64_t DeviceMemory::used() const {
  std::uint64_t total = 0;
  for (const auto& [place, allocation] : allocations_) total += allocation.length;
  return total;
}

void DeviceMemory::reset() {
  allocations_.clear();
  std::fill(bytes_.begin(), bytes_.end(), std::uint8_t{0});
}

}  // namespace hca::adapter

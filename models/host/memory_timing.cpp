#include "models/host/memory_timing.h"

#include <iterator>

namespace hca::host {

namespace {

template <class Visit>
void forEachLine(BusAddress address, std::uint64_t length, Visit&& visit) {
  if (length == 0) return;
  const std::uint64_t last = (address.value() + length - 1) / LastLevelCache::kLine;
  for (std::uint64_t line = address.value() / LastLevelCache::kLine; line <= last; ++line) visit(line);
}

}  // namespace

MemoryTiming::MemoryTiming(const IommuConfig& iommu, const MemoryConfig& memory) : config_(memory) {
  if (iommu.enabled) iommu_.emplace(iommu);
  if (memory.cacheSize.count() > 0) {
    cache_.emplace(memory.cacheSize, static_cast<std::uint32_t>(memory.cacheWays),
                   static_cast<std::uint32_t>(memory.ddioWays));
  }
}

bool MemoryTiming::delays(const IommuConfig& iommu, const MemoryConfig& memory) {
  return iommu.enabled || memory.cacheSize.count() > 0 || memory.node == MemoryNode::kRemote;
}

Time MemoryTiming::translationDelay(BusAddress address, Time arrival) {
  return iommu_ ? iommu_->translate(address, arrival) - arrival : Time();
}

// The lines of a read are fetched at the same time.
Time MemoryTiming::readDelay(BusAddress address, std::uint32_t length, Source source, Time arrival) {
  Time delay = translationDelay(address, arrival);
  if (isRemote(address)) delay += config_.remoteLatency;
  if (!cache_) return delay;
  const bool isFresh = source == Source::kSoftware || (source == Source::kPayload && config_.freshPayload);
  bool missed = false;
  forEachLine(address, length, [&](std::uint64_t line) {
    if (isFresh) cache_->touch(line);
    missed |= !cache_->read(line);
  });
  return missed ? delay + config_.dramLatency : delay;
}

// Direct data I/O is for the adapter's own socket.
Time MemoryTiming::writeDelay(BusAddress address, std::uint32_t length, Time arrival) {
  Time delay = translationDelay(address, arrival);
  const bool remote = isRemote(address);
  if (remote) delay += config_.remoteLatency;
  if (!cache_) return delay;
  bool waits = remote;
  forEachLine(address, length, [&](std::uint64_t line) {
    if (remote) {
      cache_->drop(line);
    } else {
      waits |= cache_->write(line) != LastLevelCache::Write::kCached;
    }
  });
  return waits ? delay + config_.dramLatency : delay;
}

void MemoryTiming::setNode(BusAddress address, std::uint64_t length, MemoryNode node) {
  nodes_[address.value()] = {address.value() + length, node};
}

bool MemoryTiming::isRemote(BusAddress address) const {
  const auto behind = nodes_.upper_bound(address.value());
  if (behind != nodes_.begin()) {
    const Range& range = std::prev(behind)->second;
    if (address.value() < range.end) return range.node == MemoryNode::kRemote;
  }
  return config_.node == MemoryNode::kRemote;
}

void MemoryTiming::warm(BusAddress address, std::uint64_t length) {
  if (cache_) forEachLine(address, length, [&](std::uint64_t line) { cache_->touch(line); });
}

void MemoryTiming::chill(BusAddress address, std::uint64_t length) {
  if (cache_) forEachLine(address, length, [&](std::uint64_t line) { cache_->drop(line); });
}

}  // namespace hca::host

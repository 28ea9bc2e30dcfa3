#include "models/host/last_level_cache.h"

#include <algorithm>

namespace hca::host {

LastLevelCache::LastLevelCache(Bytes size, std::uint32_t ways, std::uint32_t deviceWays)
    : ways_(ways),
      deviceWays_(deviceWays),
      sets_(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(size.count()) / kLine / ways)),
      places_(sets_ * ways) {}

LastLevelCache::Place* LastLevelCache::find(std::uint64_t line) {
  Place* set = setOf(line);
  Place* found = std::find_if(set, set + ways_, [&](const Place& place) { return place.line == line; });
  if (found == set + ways_) return nullptr;
  found->lastUse = ++uses_;
  return found;
}

LastLevelCache::Place& LastLevelCache::victim(std::uint64_t line, std::uint32_t ways) {
  Place* set = setOf(line);
  return *std::min_element(set, set + ways, [](const Place& a, const Place& b) { return a.lastUse < b.lastUse; });
}

bool LastLevelCache::read(std::uint64_t line) {
  const bool hit = find(line) != nullptr;
  ++(hit ? reads_.hits : reads_.misses);
  return hit;
}

LastLevelCache::Write LastLevelCache::write(std::uint64_t line) {
  if (Place* found = find(line)) {
    ++writes_.hits;
    found->changed = true;
    return Write::kCached;
  }
  ++writes_.misses;
  if (deviceWays_ == 0) return Write::kWentThrough;
  Place& place = victim(line, deviceWays_);
  const bool writesBack = place.changed;
  if (writesBack) ++writes_.evictions;
  place = {line, ++uses_, true};
  return writesBack ? Write::kWroteBack : Write::kCached;
}

void LastLevelCache::touch(std::uint64_t line) {
  if (Place* found = find(line)) {
    found->changed = true;
    return;
  }
  victim(line, static_cast<std::uint32_t>(ways_)) = {line, ++uses_, true};
}

void LastLevelCache::drop(std::uint64_t line) {
  if (Place* found = find(line)) *found = Place();
}

}  // namespace hca::host

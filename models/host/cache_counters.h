// What a cache did.
#pragma once

#include <cstdint>

namespace hca::host {

struct CacheCounters {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t evictions = 0;  ///< misses that another entry had to make room for
};

}  // namespace hca::host

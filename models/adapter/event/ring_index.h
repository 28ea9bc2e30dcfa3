// Free-running indices behind 24-bit registers.
#pragma once

#include <cstdint>

#include "models/wire/cqe.h"
#include "models/wire/doorbell.h"

namespace hca::adapter {

/// Extends a 24-bit register to the free-running index that is nearest to `near`. An index further than half the range
/// (2^23) away is misread; rings have at most 2^22 entries.
constexpr std::uint64_t extendIndex24(std::uint32_t wire, std::uint64_t near) {
  const std::int32_t distance = wire::indexDistance24(wire, static_cast<std::uint32_t>(near));
  return near + static_cast<std::uint64_t>(static_cast<std::int64_t>(distance));
}

/// The register's view of a free-running index.
constexpr std::uint32_t truncateIndex24(std::uint64_t index) {
  return static_cast<std::uint32_t>(index) & wire::kCqIndexMask;
}

}  // namespace hca::adapter

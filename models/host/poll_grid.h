// When a spinning thread looks.
#pragma once

#include "models/base/units.h"

namespace hca::host {

/// Start of the first poll at or after `earliest`, of a thread whose polls start at `origin`, `origin + period`, ...
/// Precondition: period > 0.
constexpr Time pollGrid(Time origin, Time period, Time earliest) {
  if (earliest <= origin) return origin;
  const std::int64_t waited = (earliest - origin).count();
  const std::int64_t polls = (waited + period.count() - 1) / period.count();
  return origin + period * polls;
}

}  // namespace hca::host

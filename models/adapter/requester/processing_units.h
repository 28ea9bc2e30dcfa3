// The send engines that build packets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/base/units.h"

namespace hca::adapter {

/// Equal units, each busy until a time. SystemC-free.
class ProcessingUnits {
 public:
  explicit ProcessingUnits(std::int64_t count) : freeAt_(static_cast<std::size_t>(count)) {}

  /// When the first unit is (or was) free.
  [[nodiscard]] Time freeAt() const { return *std::min_element(freeAt_.begin(), freeAt_.end()); }
  /// Occupies the first free unit until `until`.
  void occupy(Time until) { *std::min_element(freeAt_.begin(), freeAt_.end()) = until; }

 private:
  std::vector<Time> freeAt_;
};

}  // namespace hca::adapter

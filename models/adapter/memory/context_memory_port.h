// Where structures are in host memory.
#pragma once

#include <cstdint>

#include "models/base/ids.h"

namespace hca::adapter {

class ContextMemory {
 public:
  /// Of `length` bytes, a page at most, on one of the pages that the driver lent. `number` tells structures apart.
  [[nodiscard]] virtual BusAddress home(std::uint64_t number, std::uint32_t length) const = 0;

 protected:
  ~ContextMemory() = default;
};

}  // namespace hca::adapter

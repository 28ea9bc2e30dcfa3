// How a memory operation ended.
#pragma once

#include <cstdint>

#include "models/adapter/completion/completion_port.h"

namespace hca::adapter {

struct MemoryOperationResult {
  bool ok = true;
  CqeSyndrome syndrome = CqeSyndrome::kMemoryWindowBind;
  std::uint8_t vendorError = 0;
};

}  // namespace hca::adapter

// One WQE of a receive queue, parsed.
#pragma once

#include <cstdint>

#include "models/adapter/send_queue/send_request.h"

namespace hca::adapter {

struct ReceiveWqe {
  std::uint64_t index = 0;  ///< free-running number in its queue
  DataSegments segments;
  std::uint64_t capacity = 0;  ///< bytes of all segments
};

}  // namespace hca::adapter

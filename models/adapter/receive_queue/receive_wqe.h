// One WQE of a receive queue, parsed.
#pragma once

#include <cstdint>

#include "models/adapter/send_queue/send_request.h"
#include "models/base/byte_view.h"

namespace hca::adapter {

struct ReceiveWqe {
  std::uint64_t index = 0;    ///< free-running number in its queue
  std::uint16_t counter = 0;  ///< as the CQE names it: low bits of the index, or the place in a shared queue's list
  DataSegments segments;
  std::uint64_t capacity = 0;  ///< bytes of all segments
};

/// Parses the data segments of a WQE, to the terminator or the end.
[[nodiscard]] ReceiveWqe parseReceiveWqe(ByteView segments, std::uint64_t index, std::uint16_t counter);

}  // namespace hca::adapter

// What the adapter knows of one send queue.
#pragma once

#include <cstdint>

#include "models/kernel/payload_pool.h"

namespace hca::adapter {

struct SendQueueState {
  std::uint64_t producer = 0;  ///< free-running block number one past the last that a doorbell announced
  std::uint64_t fetched = 0;   ///< one past the last block whose WQE was parsed
  std::uint32_t epoch = 0;     ///< a fetch of an older epoch is dropped (reset meanwhile)
  bool fetching = false;
  kernel::Payload partial;  ///< blocks from `fetched` on of a WQE that is not complete yet
};

}  // namespace hca::adapter

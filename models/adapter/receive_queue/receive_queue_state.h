// What the adapter knows of one receive queue.
#pragma once

#include <cstdint>

#include "models/adapter/receive_queue/receive_wqe.h"
#include "models/kernel/ring_queue.h"

namespace hca::adapter {

/// The entry of a striding queue that packets are going to.
struct StridingPosition {
  bool isOpen = false;
  ReceiveWqe wqe;
  std::uint32_t used = 0;   ///< strides that packets took
  std::uint32_t taken = 0;  ///< that the packet under way takes
};

struct ReceiveQueueState {
  std::uint64_t producer = 0;           ///< as last read from the doorbell record
  std::uint64_t fetched = 0;            ///< one past the last entry fetched
  std::uint64_t consumed = 0;           ///< one past the last entry taken by a message
  std::uint32_t epoch = 0;              ///< DMA of an older epoch is dropped (reset meanwhile)
  bool busy = false;                    ///< a read of the record or of entries is under way
  bool flushing = false;                ///< in error: every entry completes as flushed
  std::uint8_t idleLooks = 0;           ///< in error: looks at the doorbell record in vain since the last entry
  kernel::RingQueue<ReceiveWqe> ready;  ///< prefetched, oldest first
  StridingPosition striding;            ///< of a striding queue
};

}  // namespace hca::adapter

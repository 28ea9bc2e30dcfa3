// What the adapter knows of one shared receive queue.
#pragma once

#include <cstdint>
#include <memory>

#include "models/adapter/receive_queue/receive_wqe.h"
#include "models/adapter/receive_queue/srq_attributes.h"
#include "models/adapter/receive_queue/tag_list.h"
#include "models/base/ids.h"
#include "models/kernel/ring_queue.h"

namespace hca::adapter {

struct SharedReceiveQueue {
  SrqNumber number;
  std::uint32_t serial = 0;  ///< DMA of an older queue with this number is dropped
  SrqAttributes attributes;
  std::uint32_t users = 0;  ///< queue pairs that name it
  std::uint32_t held = 0;   ///< entries taken by messages that are not done

  std::uint64_t producer = 0;                    ///< entries posted, as last read from the doorbell record
  std::uint64_t fetched = 0;                     ///< entries fetched
  std::uint64_t consumed = 0;                    ///< entries taken
  std::uint32_t next = 0;                        ///< place of the next entry to fetch, as the list says
  std::uint32_t batch = 0;                       ///< neighbours that the next fetch reads
  std::uint32_t batchFirst = 0, batchCount = 0;  ///< of the fetch under way
  bool busy = false;                             ///< a read of the record or of entries is under way
  bool limitDue = false;                         ///< seems to be below the limit; the record will tell
  kernel::RingQueue<ReceiveWqe> ready;           ///< fetched, in the order of the list
  std::unique_ptr<TagList> tags;                 ///< of a tag-matching queue
  kernel::RingQueue<QpNumber> waiting;           ///< queue pairs that need an entry, first come first served
};

}  // namespace hca::adapter

// How operations on lists of tags reach them.
#pragma once

#include "models/adapter/requester/memory_operation_result.h"
#include "models/adapter/transport/queue_pair.h"
#include "models/base/byte_view.h"

namespace hca::adapter {

/// The lists of tags of tag-matching receive queues, as the send queues see them.
class TagListPort {
 public:
  /// Executes list operation number `request` of `qp`, for its shared queue: `segments` is the WQE behind the control
  /// segment.
  /// Completes it if it asks for that. Not ok: the request fails.
  virtual MemoryOperationResult execute(const QueuePair& qp, std::uint64_t request, ByteView segments) = 0;

 protected:
  ~TagListPort() = default;
};

}  // namespace hca::adapter

// Who waits for receive WQEs.
#pragma once

#include "models/adapter/transport/queue_pair.h"

namespace hca::adapter {

/// Told what became of a `take` that had to wait.
class ReceiveQueueListener {
 public:
  /// A receive WQE can be taken now, or the attempt will tell why not.
  virtual void onReceiveAvailable(QueuePair& qp) = 0;
  /// The doorbell record was read again: software has posted none.
  virtual void onReceiveEmpty(QueuePair& qp) = 0;

 protected:
  ~ReceiveQueueListener() = default;
};

}  // namespace hca::adapter

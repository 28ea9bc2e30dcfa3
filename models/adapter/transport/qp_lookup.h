// Finds a queue pair by its number.
#pragma once

#include "models/adapter/event/event_port.h"
#include "models/adapter/transport/queue_pair.h"

namespace hca::adapter {

class QpLookup {
 public:
  /// nullptr if there is no such queue pair.
  virtual QueuePair* find(QpNumber number) = 0;

 protected:
  ~QpLookup() = default;
};

/// Told that a stage found an error that ends a queue pair's life in the ready states.
class QpErrorSink {
 public:
  /// The failing request has reported itself: move `qp` to error and flush the rest of both queues.
  virtual void onRequesterError(QueuePair& qp) = 0;
  /// The responder refused a request of the peer. `event` names the affiliated asynchronous event, kCompletion for
  /// none.
  virtual void onResponderError(QueuePair& qp, EventType event) = 0;

 protected:
  ~QpErrorSink() = default;
};

}  // namespace hca::adapter

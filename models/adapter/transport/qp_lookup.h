// Finds a queue pair by its number.
#pragma once

#include "models/adapter/event/event_port.h"
#include "models/adapter/transport/queue_pair.h"

namespace hca::adapter {

class QpLookup {
 public:
  /// nullptr if there is no such queue pair.
  virtual QueuePair* find(QpNumber number) = 0;
  /// What a packet that came in at `port`, counted from 1, means by the number of a special queue pair (0 or 1).
  [[nodiscard]] virtual QpNumber specialOf(std::uint8_t port, QpNumber number) const = 0;
  /// Something for it is on its way: a hint, for a number that may be wrong.
  virtual void expect(QpNumber number) = 0;

 protected:
  ~QpLookup() = default;
};

/// Told what a stage found that moves a queue pair to another state, or that software wants to know.
class QpEventSink {
 public:
  /// The failing request has reported itself: move `qp` to error and flush the rest of both queues, or of an unreliable
  /// service's send queue alone.
  virtual void onRequesterError(QueuePair& qp) = 0;
  /// The responder refused a request of the peer. `event` names the affiliated asynchronous event, kCompletion for
  /// none.
  virtual void onResponderError(QueuePair& qp, EventType event) = 0;
  /// Software posted a send to a queue pair in error.
  virtual void onPostedInError(QueuePair& qp) = 0;
  /// The send queue is draining, and nothing that had begun is left.
  virtual void onSendQueueDrained(QueuePair& qp) = 0;
  /// The first packet of a connection came before the queue pair was ready to send.
  virtual void onCommunicationEstablished(QueuePair& qp) = 0;
  /// A request's retries are used up. True if the connection changed to its other path, where they begin again.
  virtual bool onPathFailed(QueuePair& qp) = 0;
  /// A packet for a connection that is not migrated came in at `port`. False if it is to be dropped: it came by a path
  /// that is none of the connection's.
  virtual bool takesPath(QueuePair& qp, const network::Packet& packet, std::uint8_t port) = 0;

 protected:
  ~QpEventSink() = default;
};

}  // namespace hca::adapter

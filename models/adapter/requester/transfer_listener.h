// Who is told of requests that the adapter made itself.
#pragma once

#include "models/adapter/transport/queue_pair.h"

namespace hca::adapter {

/// Told the end of requests with a RendezvousTransfer: they have no completion of their own.
class TransferListener {
 public:
  /// `request` of `qp` is done; not `ok`: it failed or was flushed. May submit further requests.
  virtual void onTransferEnded(QueuePair& qp, const SendRequest& request, bool ok) = 0;

 protected:
  ~TransferListener() = default;
};

}  // namespace hca::adapter

// What the requester knows of one queue pair.
#pragma once

#include <cstdint>

#include "models/adapter/send_queue/send_request.h"
#include "models/adapter/transport/egress_queue.h"
#include "models/kernel/ring_queue.h"

namespace hca::adapter {

struct RequesterState {
  /// Requests from the oldest unacknowledged to the newest fetched.
  kernel::RingQueue<SendRequest> requests;
  std::uint32_t cursor = 0;         ///< place in `requests` of the one whose packets are being built
  std::uint32_t cursorPacket = 0;   ///< its next packet
  std::uint32_t readsInFlight = 0;  ///< reads and atomics sent and not answered
  std::uint32_t nextPsn = 0;        ///< of the next request that starts
  std::uint8_t retriesLeft = 7;
  std::uint8_t rnrRetriesLeft = 7;
  bool queued = false;  ///< in the scheduler's list
  bool waitingForRnr = false;
  bool draining = false;       ///< nothing new begins; to be reported when what began is done
  bool errorReported = false;  ///< a request of this queue was completed with an error since it last began to work
  bool recovering = false;     ///< a lost response was asked for again; later ones change nothing until it comes
  // Of an initiator of dynamic connections; the target is in the queue pair's attributes.
  bool connected = false;
  bool mustConnect = false;  ///< the next packet asks for the connection, once more if it may have been lost
  EgressQueue egress;
};

}  // namespace hca::adapter

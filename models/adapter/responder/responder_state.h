// What the responder knows of one queue pair.
#pragma once

#include <cstdint>

#include "models/adapter/receive_queue/receive_wqe.h"
#include "models/adapter/transport/egress_queue.h"
#include "models/kernel/ring_queue.h"
#include "models/network/packet.h"

namespace hca::adapter {

struct ResponderState {
  enum class Message : std::uint8_t { kNone, kSend, kWrite };

  std::uint32_t expectedPsn = 0;
  std::uint32_t messageNumber = 0;  ///< MSN, 24 bits
  bool nakSent = false;             ///< one NAK a gap
  bool waitingForReceive = false;   ///< the packet at the front of `waiting` needs a receive WQE that is being read
  kernel::RingQueue<network::Packet> waiting;  ///< arrived behind it

  // The message under way.
  Message message = Message::kNone;
  bool hasReceive = false;
  ReceiveWqe receive;
  std::uint32_t received = 0;  ///< bytes of the message placed so far
  std::uint64_t writeAddress = 0;
  std::uint32_t writeLength = 0;
  MemoryKey writeKey;
  EgressQueue egress;
};

}  // namespace hca::adapter

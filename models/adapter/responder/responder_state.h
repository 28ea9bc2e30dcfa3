// What the responder knows of one queue pair.
#pragma once

#include <array>
#include <cstdint>

#include "models/adapter/receive_queue/receive_wqe.h"
#include "models/adapter/responder/response.h"
#include "models/adapter/transport/egress_queue.h"
#include "models/kernel/ring_queue.h"
#include "models/network/packet.h"
#include "models/wire/tag_matching.h"

namespace hca::adapter {

/// The result of an executed atomic: a duplicate of its request is answered with it, not executed again.
struct AtomicReplay {
  std::uint32_t psn = 0;
  std::uint64_t result = 0;
};

/// What tag matching made of the message under way.
struct TaggedMessage {
  enum class Kind : std::uint8_t {
    kNone,        ///< not of a tag-matching queue
    kMatched,     ///< its data go to the tag's buffer
    kTransfer,    ///< a rendezvous whose data the requester fetches: nothing of the message itself is placed
    kUnexpected,  ///< all of it goes to an entry of the shared queue
    kUntagged,    ///< the same
  };
  Kind kind = Kind::kNone;
  bool isSoftwareRendezvous = false;  ///< of kMatched: the headers go to the buffer, software does the rest
  bool isReported = false;            ///< of kMatched: that it matched was told before its data came
  std::uint16_t place = 0;            ///< of the tag
  std::array<std::uint8_t, sizeof(wire::TagHeader)> header{};

  [[nodiscard]] bool tookTag() const { return kind == Kind::kMatched || kind == Kind::kTransfer; }
  /// First bytes of the message that are not placed.
  [[nodiscard]] std::uint32_t skipped() const {
    return kind == Kind::kMatched && !isSoftwareRendezvous ? sizeof(wire::TagHeader) : 0;
  }
};

struct ResponderState {
  enum class Message : std::uint8_t { kNone, kSend, kWrite };

  std::uint32_t expectedPsn = 0;
  std::uint32_t messageNumber = 0;  ///< MSN, 24 bits
  bool nakSent = false;             ///< one NAK a gap
  bool waitingForCache = false;     ///< the packet at the front of `waiting` needs what its accesses missed
  bool waitingForReceive = false;   ///< the packet at the front of `waiting` needs a receive WQE that is being read
  bool established = false;         ///< a packet came before the queue pair was ready to send, and was reported

  bool migrationRefused = false;  ///< the peer migrated to a path that is none of ours, and that was reported

  // The message under way.
  Message message = Message::kNone;
  bool hasReceive = false;
  bool writeRelaxed = false;     ///< its memory allows relaxed ordering
  bool responsesQueued = false;  ///< in the response engine's list
  std::uint32_t received = 0;    ///< bytes of the message placed so far
  std::uint32_t placeAt = 0;     ///< where in the receive WQE's buffers it begins
  std::uint32_t writeLength = 0;
  std::uint64_t writeAddress = 0;
  MemoryKey writeKey;
  SrqNumber sharedQueue;  ///< of XRC: the one that the latest message is for

  EgressQueue egress;
  kernel::RingQueue<Response> responses;  ///< not yet on the wire, oldest first

  ReceiveWqe receive;                          ///< of the message under way
  TaggedMessage tagged;                        ///< likewise
  kernel::RingQueue<network::Packet> waiting;  ///< arrived behind what waits
  kernel::RingQueue<AtomicReplay> replays;     ///< results of the latest atomics, for duplicates

  /// Packets that arrive go to `waiting`.
  [[nodiscard]] bool isWaiting() const { return waitingForReceive || waitingForCache; }
};

}  // namespace hca::adapter

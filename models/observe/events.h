// What the probes report. Every event carries the simulated time at which it took effect.
#pragma once

#include <cstdint>

#include "models/base/byte_view.h"
#include "models/base/ids.h"
#include "models/base/units.h"
#include "models/observe/work_request_id.h"

namespace hca::observe {

/// The stages in the life of a work request, in the order of a signaled RC SEND. models/README.md names the file of
/// each. A request passes only the stages its verb has.
enum class Stage : std::uint8_t {
  kPosted,             ///< software wrote the WQE and called the doorbell
  kDoorbellArrived,    ///< the doorbell register write reached the adapter
  kWqeFetched,         ///< the WQE is in the adapter (with BlueFlame: at the doorbell)
  kScheduled,          ///< a processing unit started on it
  kPayloadFetched,     ///< the last byte of the payload was read from host memory
  kFirstPacketSent,    ///< the first packet left for the wire
  kLastPacketSent,     ///< the last packet left for the wire
  kLastPacketArrived,  ///< the last packet passed the responder's checks (reported with the requester's id)
  kPayloadPlaced,      ///< the responder's last write is visible in its host's memory (requester's id)
  kAcknowledged,       ///< the requester accepted the acknowledgement
  kCqeIssued,          ///< the CQE entered the completion writer
  kCqeVisible,         ///< the CQE is visible in host memory
  kPolled,             ///< software took the completion out of the CQ
};

struct StageEvent {
  Stage stage;
  Time time;
  WorkRequestId request;
};

/// What happened to a completion queue.
enum class CqAction : std::uint8_t {
  kCqeVisible,      ///< an entry became visible; index = its free-running number
  kArmIssued,       ///< software's arm left the CPU; index = consumer index in it
  kArmArrived,      ///< the arm reached the adapter
  kArmIgnored,      ///< an arm with the sequence number of a served one
  kEventFired,      ///< the arm was served: an EQE is on its way
  kPolled,          ///< software consumed an entry
  kPolledEmpty,     ///< software found nothing (the first of a run of empty polls)
  kEventDelivered,  ///< the driver handed the completion event to the channel
  kSleep,           ///< a thread went to sleep for this CQ's channel
  kWake,            ///< the thread runs again
  kOverrun,         ///< an entry found the queue full
  kEntryLost,       ///< overrun ignored: an unread entry was overwritten
  kResized,         ///< the resize entry became visible; index = its number, the last in the old ring
};

struct CqEvent {
  CqAction action;
  Time time;
  HostIndex host;
  AdapterIndex adapter;
  CqNumber cq;
  std::uint64_t index = 0;          ///< free-running entry number, or consumer index extended to 64 bits
  bool solicitedOnly = false;       ///< of an arm
  bool solicited = false;           ///< of an entry
  std::uint8_t sequenceNumber = 0;  ///< of an arm
};

/// A notification that the InfiniBand specification alone would not have promised, or that was really lost.
struct HazardEvent {
  enum class Kind : std::uint8_t {
    kArmAfterEntry,  ///< entries were visible before the arm arrived and only a lenient arm rule gave the event
    kLostWakeUp,     ///< a thread slept while entries it had not polled were visible and no event was pending
  };
  Kind kind;
  Time time;
  HostIndex host;
  AdapterIndex adapter;
  CqNumber cq;
  std::uint64_t firstEntry = 0;  ///< oldest entry concerned
  std::uint64_t entries = 0;     ///< how many
};

struct InterruptEvent {
  enum class Action : std::uint8_t { kMessageSent, kMaskedPending, kDelivered };
  Action action;
  Time time;
  HostIndex host;
  AdapterIndex adapter;
  InterruptVector vector;
};

/// Software took a completion out of a queue.
struct CompletionEvent {
  Time time;
  WorkRequestId request;
  CqNumber cq;
  std::uint64_t workRequestId = 0;  ///< wr_id
  std::uint8_t opcode = 0;          ///< driver::WcOpcode
  std::uint8_t status = 0;          ///< ibv_wc_status
  std::uint32_t bytes = 0;
  QpNumber qp;  ///< where it completed; a request of a shared receive queue doesn't say
};

/// The adapter handed an entry of a completion or event queue to the bus, or a block of compressed ones.
struct EntryEvent {
  enum class Queue : std::uint8_t { kCompletion, kEvent };
  Queue kind;
  Time time;
  HostIndex host;
  AdapterIndex adapter;
  std::uint32_t queue = 0;  ///< CQ or EQ number
  std::uint64_t index = 0;  ///< free-running number of the entry
  ByteView bytes;           ///< as written; valid during the call
};

/// An asynchronous event (error or state change) raised by an adapter. `type` is the EQE type.
struct AsyncEvent {
  Time time;
  HostIndex host;
  AdapterIndex adapter;
  std::uint8_t type = 0;
  std::uint8_t subType = 0;
  std::uint32_t object = 0;  ///< CQ, QP, SRQ or port number, by type
  std::uint8_t syndrome = 0;
};

}  // namespace hca::observe

// What software does with an adapter: post, poll, arm, wait. Workloads, replay and recording share it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "models/base/ids.h"
#include "models/observe/work_request_id.h"
#include "sim/driver/verbs_types.h"

namespace hca::driver {

/// Handles are small dense numbers of one client; the adapter's numbers are in the answers.
using QpHandle = Id<struct QpHandleTag>;
using MrHandle = Id<struct MrHandleTag>;
using MwHandle = Id<struct MwHandleTag>;

struct CqCreated {
  VerbsError error = VerbsError::kNone;
  CqHandle handle;
  CqNumber number;
  std::uint32_t cqe = 0;  ///< actual depth, at least what was asked for
};
struct CqResized {
  VerbsError error = VerbsError::kNone;
  std::uint32_t cqe = 0;  ///< actual depth, at least what was asked for
};
struct QpCreated {
  VerbsError error = VerbsError::kNone;
  QpHandle handle;
  QpNumber number;
  std::uint32_t maxSendWr = 0, maxReceiveWr = 0, maxInline = 0;  ///< actual
};
struct SrqCreated {
  VerbsError error = VerbsError::kNone;
  SrqHandle handle;
  SrqNumber number;
  std::uint32_t maxWr = 0, maxSge = 0;  ///< actual, at least what was asked for
};
struct XrcdOpened {
  VerbsError error = VerbsError::kNone;
  XrcdHandle handle;
};
struct MrRegistered {
  VerbsError error = VerbsError::kNone;
  MrHandle handle;
  MemoryKey localKey, remoteKey;
};

struct MwAllocated {
  VerbsError error = VerbsError::kNone;
  MwHandle handle;
  MemoryKey key;  ///< until it is bound for the first time
};
/// ibv_mw_bind
struct MwBinding {
  std::uint64_t workRequestId = 0;
  MrHandle region;
  std::uint64_t address = 0;
  std::uint64_t length = 0;  ///< 0 unbinds
  std::uint32_t access = 0;
  bool signaled = true;
  bool fence = false;
};

/// What a queue pair needs to know of its peer.
struct QpPeer {
  Lid lid;
  std::optional<network::Gid> gid;  ///< packets carry a global route, as they have to with RoCE
  QpNumber qp;
  std::uint32_t receivePsn = 0;  ///< first PSN the peer sends
  std::uint32_t sendPsn = 0;     ///< first PSN we send
};
/// ibv_modify_qp attributes of the two transitions to RTS, with perftest's defaults.
struct ConnectionAttributes {
  std::uint32_t mtu = 4096;  ///< bytes
  std::uint8_t ackTimeout = 14;
  std::uint8_t retryCount = 7;
  std::uint8_t rnrRetry = 7;
  std::uint8_t minRnrTimer = 12;
  std::uint8_t maxReads = 16;  ///< rd_atomic, both ways
  bool remoteWrite = true, remoteRead = true, remoteAtomic = true;
  std::uint32_t queueKey = 0x11111111;  ///< datagrams alone: what senders must know
};

struct PostResult {
  VerbsError error = VerbsError::kNone;
  std::size_t accepted = 0;  ///< requests of the list that were posted before the refused one
};

/// One thread of software with an open device. Asynchronous where hardware or the kernel takes time: control calls and
/// waits end in a callback. Data-path calls act on memory at once and charge their CPU cost to the thread: the register
/// write of a post or an arm leaves when the cost up to it has passed, the thread's next step runs after all of it (see
/// `afterCost`). All calls are made from callbacks of the same client or before the run starts; a callback that ends
/// without naming a next step leaves the thread idle.
class VerbsClient {
 public:
  using Step = std::function<void()>;
  virtual ~VerbsClient() = default;

  [[nodiscard]] virtual HostIndex host() const = 0;
  [[nodiscard]] virtual AdapterIndex adapter() const = 0;
  /// Local identifier of the port that the client uses.
  [[nodiscard]] virtual Lid lid() const = 0;
  /// Where others reach the port: with RoCE by its GID.
  [[nodiscard]] virtual AddressHandle address() const = 0;

  // Memory. Addresses are virtual addresses of this client.
  virtual std::uint64_t allocate(std::uint64_t length, std::uint64_t alignment) = 0;
  virtual void release(std::uint64_t address) = 0;
  /// The bytes behind an address, for filling and checking payload without simulated cost; nullptr outside of a buffer.
  virtual std::uint8_t* bytes(std::uint64_t address, std::uint64_t length) = 0;

  // Control path: through the driver role and the adapter's command interface.
  /// Opens the device: protection domain and doorbell page. The first call, once.
  virtual void open(std::function<void(VerbsError)> done) = 0;
  virtual void registerMemory(std::uint64_t address, std::uint64_t length, std::uint32_t access,
                              std::function<void(MrRegistered)> done) = 0;
  /// Refused as kBusy while a window is bound to it.
  virtual void deregisterMemory(MrHandle handle, std::function<void(VerbsError)> done) = 0;
  /// A window of the client's domain, bound to nothing.
  virtual void allocateMw(WindowType type, std::function<void(MwAllocated)> done) = 0;
  virtual void deallocateMw(MwHandle window, std::function<void(VerbsError)> done) = 0;
  virtual void createCq(const CqRequest& request, std::function<void(CqCreated)> done) = 0;
  /// Waits until every delivered event is acknowledged; refused as kBusy while a queue pair uses it.
  virtual void destroyCq(CqHandle cq, std::function<void(VerbsError)> done) = 0;
  /// ibv_resize_cq: a depth that rounds to the present one changes nothing. Refused as kInvalid if the entries not yet
  /// polled don't fit. Until `done` runs the library holds the queue's lock: no other call may name this queue.
  virtual void resizeCq(CqHandle cq, std::int32_t cqe, std::function<void(CqResized)> done) = 0;
  /// ibv_modify_cq: moderation by `count` entries and `period` microseconds.
  virtual void modifyCq(CqHandle cq, std::uint16_t count, std::uint16_t period,
                        std::function<void(VerbsError)> done) = 0;
  /// ibv_open_xrcd: the domain that belongs to `file`, shared by every client of the adapter that names it; 0: one of
  /// its own.
  virtual void openXrcd(std::uint64_t file, std::function<void(XrcdOpened)> done) = 0;
  /// Refused as kBusy while the client has shared queues or targets in it and hasn't opened it twice.
  virtual void closeXrcd(XrcdHandle domain, std::function<void(VerbsError)> done) = 0;
  virtual void createSrq(const SrqRequest& request, std::function<void(SrqCreated)> done) = 0;
  /// ibv_modify_srq with IBV_SRQ_LIMIT: one event as soon as fewer than `limit` receives are left; 0 disarms. Refused
  /// as kInvalid if the queue never holds as many.
  virtual void modifySrq(SrqHandle srq, std::uint32_t limit, std::function<void(VerbsError)> done) = 0;
  /// Refused as kBusy while a queue pair uses it.
  virtual void destroySrq(SrqHandle srq, std::function<void(VerbsError)> done) = 0;
  /// An XRC initiator has no use for `receiveCq`, a target for neither: the shared queue's counts.
  virtual void createQp(const QpRequest& request, CqHandle sendCq, CqHandle receiveCq,
                        std::function<void(QpCreated)> done) = 0;
  /// Reset to init to ready-to-receive to ready-to-send. An unreliable datagram queue pair has no peer: of `peer` only
  /// sendPsn counts, and datagrams that carry another queue key than `attributes` names are dropped.
  virtual void connect(QpHandle qp, const QpPeer& peer, const ConnectionAttributes& attributes,
                       std::function<void(VerbsError)> done) = 0;
  virtual void modifyToError(QpHandle qp, std::function<void(VerbsError)> done) = 0;
  /// Refused as kBusy while it is attached to a group.
  virtual void destroyQp(QpHandle qp, std::function<void(VerbsError)> done) = 0;
  /// ibv_attach_mcast, whose LID this family of adapters makes no use of: a datagram queue pair gets a copy of what is
  /// sent to `group`, also by itself (network::multicastLid tells senders the LID).
  virtual void attachMulticast(QpHandle qp, const network::Gid& group, std::function<void(VerbsError)> done) = 0;
  virtual void detachMulticast(QpHandle qp, const network::Gid& group, std::function<void(VerbsError)> done) = 0;

  // Data path.
  virtual PostResult postSend(QpHandle qp, const std::vector<SendWorkRequest>& list) = 0;
  /// ibv_bind_mw: posts the bind of a window of type 1, whose key is another one from now on. kInvalid: a region
  /// without the right, a window of type 2, flags that a window can't have.
  virtual PostResult bindMw(QpHandle qp, MwHandle window, const MwBinding& binding) = 0;
  /// The window's present key.
  [[nodiscard]] virtual MemoryKey windowKey(MwHandle window) const = 0;
  virtual PostResult postReceive(QpHandle qp, const std::vector<ReceiveWorkRequest>& list) = 0;
  virtual PostResult postSrqReceive(SrqHandle srq, const std::vector<ReceiveWorkRequest>& list) = 0;
  /// Takes up to `max` completions that are visible now; appends to `out` and returns how many. Writes the consumer
  /// index, as ibv_poll_cq does.
  virtual std::size_t poll(CqHandle cq, std::size_t max, std::vector<WorkCompletion>& out) = 0;
  virtual void arm(CqHandle cq, bool solicitedOnly) = 0;

  // Time.
  /// Where this thread is: the calendar's time plus the cost of the calls made in the step under way.
  [[nodiscard]] virtual Time threadTime() const = 0;
  /// Charges computation to the thread.
  virtual void compute(Time span) = 0;
  /// Runs `next` when the CPU cost of the calls made since the last step has passed (other work of the same core
  /// included).
  virtual void afterCost(Step next) = 0;
  /// As `afterCost`, and every arm of this thread is in force: a completion that the following polls don't find will
  /// raise the event. Where the adapter's arm rule doesn't see to that, the thread reads a register, which waits for
  /// the arms to arrive and for entries that were on their way.
  virtual void afterArm(Step next) = 0;
  /// Spins on `cqs`, polling each in turn: runs `next(cq)` at the first poll that will find an entry. Empty polls cost
  /// time and no events. `cqs` must outlive the wait and hold at least one.
  virtual void whenNotEmpty(const std::vector<CqHandle>& cqs, std::function<void(CqHandle)> next) = 0;
  /// The same, but no longer than until `deadline`: then it goes on with one of them, which may be empty.
  virtual void whenNotEmptyUntil(const std::vector<CqHandle>& cqs, Time deadline,
                                 std::function<void(CqHandle)> next) = 0;
  /// Spins on one byte of memory until it is `value` (what ib_write_lat does).
  virtual void whenByte(std::uint64_t address, std::uint8_t value, Step next) = 0;
  /// Sleeps on the completion channel: runs `next(cq)` when a completion event was delivered and the thread runs again,
  /// after the cost of the call if one is queued. Counts as get_cq_event; acknowledge with `acknowledge`.
  virtual void waitForEvent(std::function<void(CqHandle)> next) = 0;
  virtual void acknowledge(CqHandle cq, std::uint32_t events) = 0;
  /// Gives the core up for `span`.
  virtual void sleepFor(Time span, Step next) = 0;

  /// Asynchronous events of this client's objects (type and object number as in the EQE).
  virtual void onAsyncEvent(std::function<void(std::uint8_t type, std::uint32_t object)> handler) = 0;
  /// Name of the request that the last accepted postSend/postReceive entry got.
  [[nodiscard]] virtual observe::WorkRequestId lastPosted(QpHandle qp, observe::WorkQueue queue) const = 0;
  [[nodiscard]] virtual observe::WorkRequestId lastPosted(SrqHandle srq) const = 0;
};

}  // namespace hca::driver

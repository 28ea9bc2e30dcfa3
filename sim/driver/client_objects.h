// What a program's verbs library keeps of each object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/adapter/completion/cqe_builder.h"
#include "models/adapter/memory/number_table.h"
#include "models/base/prefetch.h"
#include "models/host/bus_address_space.h"
#include "sim/driver/completion_ring.h"
#include "sim/driver/dma_memory.h"
#include "sim/driver/doorbell_records.h"
#include "sim/driver/moderation/moderation_policy.h"
#include "sim/driver/receive_ring.h"
#include "sim/driver/send_ring.h"
#include "sim/driver/shared_receive_ring.h"
#include "sim/driver/verbs_client.h"

namespace hca::driver {

struct ClientCq;

/// Told of writes into a completion queue's ring.
class EntryWaiter {
 public:
  virtual void onEntryWritten(ClientCq& cq) = 0;
  /// The same, whether anybody waits or not: software will see it soon. `end`: of the entry, in bytes from the ring's
  /// begin. A hint.
  virtual void expectEntry(const ClientCq& cq, std::uint64_t end) = 0;

 protected:
  ~EntryWaiter() = default;
};

struct ClientCq final : host::MemoryWatcher {
  ClientCq(EntryWaiter& entryWaiter, const DmaBuffer& ringBuffer, const DoorbellRecord& doorbellRecord,
           unsigned logSize, adapter::CqeStride entryStride, const CqCompression& compression)
      : waiter(entryWaiter),
        buffer(ringBuffer),
        record(doorbellRecord),
        ring(ringBuffer.bytes, doorbellRecord.bytes, logSize, adapter::strideBytes(entryStride), compression),
        stride(entryStride) {}

  void onMemoryWritten(BusAddress address, std::uint64_t length) override {
    waiter.expectEntry(*this, address.value() + length - buffer.bus.value());
    if (spinning) waiter.onEntryWritten(*this);
  }

  EntryWaiter& waiter;
  CqHandle handle;
  CqNumber number;
  DmaBuffer buffer;
  DoorbellRecord record;
  CompletionRing ring;
  adapter::CqeStride stride;
  std::unique_ptr<ModerationPolicy> moderation;
  std::uint64_t taken = 0;  // completions of the round under way
  bool withChannel = false;
  bool spinning = false;           // a thread polls it in vain
  std::uint32_t spinPosition = 0;  // of several that are polled in turn
  bool emptyReported = false;      // the first of a run of empty polls was
  std::uint64_t eventsTaken = 0;
  std::uint64_t eventsAcknowledged = 0;
  std::function<void(VerbsError)> destroyed;  // set while a destroy waits for acknowledgements
};

struct ClientSrq {
  ClientSrq(const DmaBuffer& entries, const DoorbellRecord& doorbellRecord, const ReceiveQueueSize& size)
      : buffer(entries), record(doorbellRecord), ring(entries.bytes, doorbellRecord.bytes, size) {}

  SrqHandle handle;
  SrqNumber number;
  DmaBuffer buffer;
  DoorbellRecord record;
  SharedReceiveRing ring;
  std::optional<XrcSrq> xrc;
};

/// What completions of an XRC shared queue name: its handle with this bit. Those of queue pairs have handles alone.
constexpr std::uint32_t kSharedQueueIndex = 0x800000;

/// What a message needs lies in the first cache lines, because each of thousands is cold when its turn comes.
struct alignas(kCacheLine) ClientQp {
  QpHandle handle;
  QpNumber number;
  std::optional<SendRing> send;
  DmaBuffer buffer;  // receive queue first, then send queue
  SendQueueSize sendSize;
  ReceiveQueueSize receiveSize;
  std::optional<SrqHandle> srq;  // instead of an own receive queue
  QpType type = QpType::kRc;
  std::optional<ReceiveRing> receive;

  CqHandle sendCq, receiveCq;
  CqNumber sendCqNumber, receiveCqNumber;
  DoorbellRecord record;
  SrqNumber srqNumber;
  adapter::XrcdNumber domain;               // of an XRC target
  std::vector<network::Gid> groups;         // attached to
  std::uint8_t requesterInlineScatter = 0;  // qpc.cs_req
  std::uint8_t responderInlineScatter = 0;  // qpc.cs_res

  /// Where the send queue begins in the buffer.
  [[nodiscard]] std::uint64_t sendOffset() const { return std::uint64_t{receiveSize.entries} << receiveSize.logStride; }
};

/// Starts to bring what a send needs into the processor's cache; null does nothing.
inline void prefetchForMessage(const ClientQp* qp) {
  if (qp != nullptr) prefetch(qp, offsetof(ClientQp, srq));
}

struct ClientMr {
  MrHandle handle;
  MemoryKey key;
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  BusAddress bus;
  std::uint32_t access = 0;  // MemoryAccess
};

struct ClientXrcd {
  adapter::XrcdNumber number;
};

struct ClientMw {
  WindowType type = WindowType::kType1;
  MemoryKey key;
};

}  // namespace hca::driver

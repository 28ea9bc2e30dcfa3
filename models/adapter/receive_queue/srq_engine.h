// Shared receive queues.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/adapter/adapter_context.h"
#include "models/adapter/completion/completion_port.h"
#include "models/adapter/completion/cq_directory.h"
#include "models/adapter/event/event_port.h"
#include "models/adapter/memory/index_allocator.h"
#include "models/adapter/receive_queue/receive_queue_listener.h"
#include "models/adapter/receive_queue/receive_reads.h"
#include "models/adapter/receive_queue/shared_receive_queue.h"
#include "models/adapter/receive_queue/srq_directory.h"
#include "models/adapter/transport/datapath_config.h"
#include "models/adapter/transport/qp_lookup.h"

namespace hca::adapter {

/// Owns the shared receive queues. Software posts by a counter in a doorbell record of one word; the WQEs are a linked
/// list, each naming the place of the next. Entries are taken in the order of the list by whichever queue pair needs
/// one. They are fetched ahead, as many neighbours in one read as lately followed each other in the list.
class SrqEngine final : public SrqDirectory, private pcie::DmaClient {
 public:
  static constexpr std::uint32_t kLogMaxQueues = 16;
  static constexpr std::uint8_t kLogMaxSize = 15;  ///< 16-bit counters tell a full queue from an empty one

  SrqEngine(const AdapterContext& context, const DatapathConfig& config, CqDirectory& completionQueues,
            EventPort& events, QpLookup& queuePairs);
  void connect(ReceiveQueueListener& listener) { listener_ = &listener; }

  CommandResult create(const SrqAttributes& attributes, SrqNumber& number) override;
  CommandResult destroy(SrqKind kind, SrqNumber number) override;
  CommandResult query(SrqKind kind, SrqNumber number, SrqAttributes& attributes) const override;
  CommandResult arm(SrqKind kind, SrqNumber number, std::uint16_t limit) override;

  /// The tags of a tag-matching queue; null if there is no such queue.
  [[nodiscard]] TagList* tagsOf(SrqNumber number) const {
    const SharedReceiveQueue* srq = find(number);
    return srq == nullptr ? nullptr : srq->tags.get();
  }

  /// A queue pair that receives from `number` was created. False if there is no such queue, or it is an XRC queue:
  /// those are named by packets.
  [[nodiscard]] bool attach(SrqNumber number);
  /// Precondition: attached.
  void detach(SrqNumber number);

  enum class Take : std::uint8_t { kTaken, kPending, kFailed };
  /// Takes the next entry for `qp` into `wqe`, or promises a call of the listener. kFailed: the queue is in error or
  /// gone. Each entry taken is to be given back by `release`.
  Take take(const QueuePair& qp, SrqNumber number, ReceiveWqe& wqe);
  /// The message that took an entry is done with it.
  void release(SrqNumber number);
  [[nodiscard]] PdNumber domainOf(SrqNumber number) const;
  /// Writes what a completion says of the queue that its WQE is from: where hasOwnCq the completion queue and the user
  /// index, of another the number if the queue pair has no user index (rdma-core providers/mlx5/cq.c: get_resp_cxt_v1
  /// finds a basic queue through the queue pair's index, get_resp_ctx_v0 through the number).
  void describe(SrqNumber number, CompletionRecord& record) const;
  /// Starts to fetch ahead.
  void prefetch(SrqNumber number);

  /// Null if there is no such queue.
  [[nodiscard]] const SharedReceiveQueue* find(SrqNumber number) const;
  [[nodiscard]] std::size_t size() const { return alive_; }
  /// Forgets every queue (function-level reset).
  void clear();

 private:
  void onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) override;
  void onDmaWritten(std::uint64_t, host::DmaStatus) override {}
  void advance(SharedReceiveQueue& srq);
  void readRecord(SharedReceiveQueue& srq);
  void fetchEntries(SharedReceiveQueue& srq);
  void onRecord(SharedReceiveQueue& srq, ByteView data);
  void onEntries(SharedReceiveQueue& srq, ByteView data);
  void checkLimit(SharedReceiveQueue& srq);
  void serveWaiting(SharedReceiveQueue& srq);
  void refuseWaiting(SharedReceiveQueue& srq);
  void fail(SharedReceiveQueue& srq);
  void raise(EventType type, const SharedReceiveQueue& srq);
  [[nodiscard]] SharedReceiveQueue* lookup(SrqNumber number);
  [[nodiscard]] const SharedReceiveQueue* find(SrqKind kind, SrqNumber number) const;
  void read(const SharedReceiveQueue& srq, ReceiveRead purpose, pcie::DmaRead request);

  AdapterContext context_;
  const DatapathConfig& config_;
  CqDirectory& completionQueues_;
  EventPort& events_;
  QpLookup& queuePairs_;
  ReceiveQueueListener* listener_ = nullptr;
  IndexAllocator numbers_;
  std::vector<std::unique_ptr<SharedReceiveQueue>> table_;  // by number
  std::uint32_t nextSerial_ = 0;
  std::size_t alive_ = 0;
};

}  // namespace hca::adapter

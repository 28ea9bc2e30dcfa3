// Fetches receive WQEs.
#pragma once

#include <cstdint>

#include "models/adapter/adapter_context.h"
#include "models/adapter/completion/completion_port.h"
#include "models/adapter/receive_queue/receive_queue_listener.h"
#include "models/adapter/receive_queue/receive_reads.h"
#include "models/adapter/receive_queue/srq_engine.h"
#include "models/adapter/transport/datapath_config.h"
#include "models/adapter/transport/qp_lookup.h"
#include "models/kernel/keyed_timers.h"

namespace hca::adapter {

/// The receive queues. A receive doorbell is memory alone: the adapter learns of new entries when it reads the doorbell
/// record, which it does at start and whenever it has none left. Entries are fetched ahead in batches. What a queue
/// pair with a shared queue needs is taken from there.
class ReceiveQueueEngine final : private pcie::DmaClient {
 public:
  ReceiveQueueEngine(const AdapterContext& context, const DatapathConfig& config, QpLookup& queuePairs,
                     CompletionPort& completions, SrqEngine& sharedQueues);
  void connect(ReceiveQueueListener& listener);

  using Take = SrqEngine::Take;
  /// Takes the oldest receive WQE into `wqe`, or promises a call of the listener. kFailed: the shared queue is in
  /// error.
  Take take(QueuePair& qp, ReceiveWqe& wqe);
  /// The message that took a WQE is done with it.
  void release(const QueuePair& qp) {
    if (qp.usesSharedQueue()) sharedQueues_.release(qp.sharedQueue());
  }
  /// Whose memory keys the WQEs of `qp` use: a shared queue has a protection domain of its own.
  [[nodiscard]] PdNumber domainOf(const QueuePair& qp) const {
    return qp.usesSharedQueue() ? sharedQueues_.domainOf(qp.sharedQueue()) : qp.attributes.pd;
  }
  /// The protection domain of a shared queue; none if there is no such queue.
  [[nodiscard]] PdNumber domainOf(SrqNumber number) const { return sharedQueues_.domainOf(number); }
  /// Whether there is an XRC queue with this number, in this XRC domain.
  [[nodiscard]] bool isOfDomain(SrqNumber number, XrcdNumber domain) const {
    const SharedReceiveQueue* srq = sharedQueues_.find(number);
    return srq != nullptr && srq->attributes.kind == SrqKind::kXrc && srq->attributes.domain == domain;
  }
  /// Writes into the completion of a WQE of a shared queue what comes from there.
  void describeShared(const QueuePair& qp, CompletionRecord& record) const {
    sharedQueues_.describe(qp.sharedQueue(), record);
  }
  /// Starts to fetch ahead (the queue pair is ready to receive).
  void prefetch(QueuePair& qp);
  /// Completes every posted entry as flushed, now and later. What is posted in error is announced by nothing but the
  /// doorbell record, so the adapter looks there again: after kFirstLook, then each time after twice as long, until
  /// kLooks looks in a row found nothing. That ends, as a queue pair that nobody cares for must cost nothing;
  /// `lookAgain` starts it over. A shared queue keeps its entries: others live on it.
  void flush(QueuePair& qp);
  /// Software touched a queue pair in error: a send doorbell, or another 2ERR.
  void lookAgain(QueuePair& qp);
  static constexpr Time kFirstLook = microseconds(1);
  static constexpr std::uint8_t kLooks = 16;
  /// Forgets everything, without completions.
  void reset(QueuePair& qp);

 private:
  void onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) override;
  void onDmaWritten(std::uint64_t, host::DmaStatus) override {}
  void readRecord(QueuePair& qp);
  void fetchEntries(QueuePair& qp);
  void onRecord(QueuePair& qp, ByteView data);
  void onEntries(QueuePair& qp, ByteView data);
  void flushPosted(QueuePair& qp);
  void onLookTimer(std::uint32_t qpNumber);
  void completeFlushed(QueuePair& qp, std::uint64_t index);
  void read(const QueuePair& qp, ReceiveRead purpose, pcie::DmaRead request);

  AdapterContext context_;
  const DatapathConfig& config_;
  QpLookup& queuePairs_;
  CompletionPort& completions_;
  SrqEngine& sharedQueues_;
  ReceiveQueueListener* listener_ = nullptr;
  kernel::KeyedTimers<ReceiveQueueEngine> lookTimers_;  // by queue pair in error
};

}  // namespace hca::adapter

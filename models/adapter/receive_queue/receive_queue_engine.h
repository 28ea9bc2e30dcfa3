// Fetches receive WQEs.
#pragma once

#include <cstdint>

#include "models/adapter/adapter_context.h"
#include "models/adapter/completion/completion_port.h"
#include "models/adapter/transport/datapath_config.h"
#include "models/adapter/transport/qp_lookup.h"

namespace hca::adapter {

/// Told what became of a `take` that had to wait.
class ReceiveQueueListener {
 public:
  /// A receive WQE can be taken now.
  virtual void onReceiveAvailable(QueuePair& qp) = 0;
  /// The doorbell record was read again: software has posted none.
  virtual void onReceiveEmpty(QueuePair& qp) = 0;

 protected:
  ~ReceiveQueueListener() = default;
};

/// The receive queues. A receive doorbell is memory alone: the adapter learns of new entries when it reads the doorbell
/// record, which it does at start and whenever it has none left. Entries are fetched ahead in batches.
class ReceiveQueueEngine final : private pcie::DmaClient {
 public:
  ReceiveQueueEngine(const AdapterContext& context, const DatapathConfig& config, QpLookup& queuePairs,
                     CompletionPort& completions);
  void connect(ReceiveQueueListener& listener) { listener_ = &listener; }

  enum class Take : std::uint8_t { kTaken, kPending };

  /// Takes the oldest receive WQE into `wqe`, or promises a call of the listener.
  Take take(QueuePair& qp, ReceiveWqe& wqe);
  /// Starts to fetch ahead (the queue pair is ready to receive).
  void prefetch(QueuePair& qp);
  /// Completes every posted entry as flushed; reads the doorbell record once more for late ones.
  void flush(QueuePair& qp);
  /// Forgets everything, without completions.
  void reset(QueuePair& qp);

 private:
  enum class Purpose : std::uint8_t { kRecord, kEntries };

  void onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) override;
  void onDmaWritten(std::uint64_t, host::DmaStatus) override {}
  void readRecord(QueuePair& qp);
  void fetchEntries(QueuePair& qp);
  void onRecord(QueuePair& qp, ByteView data);
  void onEntries(QueuePair& qp, ByteView data);
  void flushPosted(QueuePair& qp);
  void completeFlushed(QueuePair& qp, std::uint64_t index);
  [[nodiscard]] static std::uint64_t token(const QueuePair& qp, Purpose purpose);

  AdapterContext context_;
  const DatapathConfig& config_;
  QpLookup& queuePairs_;
  CompletionPort& completions_;
  ReceiveQueueListener* listener_ = nullptr;
};

}  // namespace hca::adapter

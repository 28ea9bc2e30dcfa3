// Send doorbells and WQE fetch.
#pragma once

#include <cstdint>
#include <vector>

#include "models/adapter/adapter_context.h"
#include "models/adapter/memory/cache_port.h"
#include "models/adapter/transport/datapath_config.h"
#include "models/adapter/transport/qp_lookup.h"
#include "models/kernel/inbox.h"

namespace hca::adapter {

class Requester;

/// The send queues up to the parsed WQE. A doorbell announces how far software has posted; a BlueFlame write brings the
/// WQE along. WQEs are fetched in order, one DMA read a queue at a time.
class SendQueueEngine final : private pcie::DmaClient, private CacheClient {
 public:
  SendQueueEngine(const AdapterContext& context, const DatapathConfig& config, QpLookup& queuePairs,
                  Requester& requester, CachePort& cache);

  /// A write to a BlueFlame register of UAR page `uar`: the first 8 bytes of a control segment, or a whole WQE.
  void onDoorbell(UarIndex uar, ByteView bytes);
  /// That doorbell is on its way: a hint.
  void expectDoorbell(ByteView bytes) const;
  /// A further line of a BlueFlame copy, `place` bytes behind its start. Lines must follow each other; when one is
  /// missing (the processor wrote its buffer out in another order) the WQE is fetched instead.
  void onBlueFlameLine(UarIndex uar, std::uint32_t place, ByteView bytes);
  /// Continues after a change of state.
  void resume(QueuePair& qp) { fetch(qp); }
  void reset(QueuePair& qp);

  /// Doorbells that named no queue pair, one of another UAR page, or one that may not send.
  [[nodiscard]] std::uint64_t ignoredDoorbells() const { return ignoredDoorbells_; }

 private:
  struct Doorbell {
    UarIndex uar;
    std::uint32_t indexWord = 0;  // the two words of the control segment that every write begins with
    std::uint32_t qpWord = 0;
    kernel::Payload blueFlame;  // the whole write if it was longer
    bool contextLoaded = false;
  };

  void accept(Doorbell doorbell);
  void abandonCopy();
  void onDoorbellDue(Doorbell& doorbell);
  void hold(const QueuePair& qp, Doorbell doorbell);
  void onCacheReady(std::uint64_t token) override;
  void takeBlueFlame(QueuePair& qp, ByteView bytes);
  void fetch(QueuePair& qp);
  void onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) override;
  void onDmaWritten(std::uint64_t, host::DmaStatus) override {}
  void parseFetched(QueuePair& qp, ByteView data);
  void failFetch(QueuePair& qp);
  [[nodiscard]] std::uint64_t contiguousBlocks(const QueuePair& qp) const;
  void submit(QueuePair& qp, ByteView bytes);

  AdapterContext context_;
  const DatapathConfig& config_;
  QpLookup& queuePairs_;
  Requester& requester_;
  CachePort& cache_;
  kernel::Inbox<SendQueueEngine, Doorbell> doorbells_;
  std::vector<Doorbell> held_;  // wait for their queue pair's context
  std::vector<std::uint64_t> freeHeld_;
  Doorbell copy_;                   // a BlueFlame copy whose further lines are still to come
  std::uint32_t copyReceived_ = 0;  // bytes of it; 0: there is none
  std::uint64_t ignoredDoorbells_ = 0;
};

}  // namespace hca::adapter

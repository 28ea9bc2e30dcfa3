// The completion block: writes CQEs, keeps completion queues, serves arms.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/adapter/adapter_context.h"
#include "models/adapter/completion/completion_config.h"
#include "models/adapter/completion/completion_port.h"
#include "models/adapter/completion/completion_queue.h"
#include "models/adapter/completion/cq_directory.h"
#include "models/adapter/event/eq_directory.h"
#include "models/adapter/event/event_port.h"
#include "models/adapter/memory/cache_port.h"
#include "models/adapter/memory/index_allocator.h"
#include "models/kernel/keyed_timers.h"
#include "models/pcie/dma_port.h"
#include "models/wire/doorbell.h"

namespace hca::adapter {

/// One CQE writer for all queues of an adapter. A completion occupies the writer for `cqe_build_cycles`; its CQE is
/// handed to PCIe `cqe_write_cycles` later, in the order of the calls of `complete`. From that moment it counts for
/// the arm rule, and the event it may raise is written behind it.
///
/// An arm counts from its arrival at the register; the event that it may find owed is raised `arm_latency_cycles` later
/// at the earliest. Under ArmRule::kIbSpec software that sleeps after an arm must have looked for every CQE handed over
/// before that arrival. A posted register write alone tells it nothing about the moment: on the bus, a read from the
/// device that follows the arm does, because it pushes the arm down and its completion pushes the CQEs up.
///
/// A full queue: the consumer index is kept from the last read of the doorbell record. Only when the ring looks full is
/// the record read again; completions of the queue wait for the answer, in order. If it shows no room, the queue goes
/// to CqStatus::kOverflow, one CQ error event names it, nothing more is written, and each completion that comes later
/// fails its queue pair. With overrun ignored every CQE is written at once, and the record is read for the count of
/// lost entries alone.
///
/// A collapsed queue has every entry in slot 0, with the owner bit of its index: its reader takes the last one and
/// counts by the WQE counter (DPDK drivers/vdpa/mlx5/mlx5_vdpa_event.c). Overrun is checked by the indices all the
/// same; where it is ignored nothing counts as lost, because entries are there to be overwritten.
///
/// A queue with compression gathers completions that are alike (SessionPolicy) and writes them together. A gathered one
/// has its place in the ring at once, but is handed over, and counts for the arm rule, when its session is written: at
/// the end of the session (SessionEnd), or in the enhanced layout seven at a time behind the title, which is written
/// when it comes.
class CqEngine final : public CqDirectory,
                       public CompletionPort,
                       private kernel::CalendarClient,
                       private CacheClient,
                       private pcie::DmaClient {
 public:
  /// All references outlive the engine. `failures` is told of queue pairs that can't complete.
  CqEngine(const AdapterContext& context, const CompletionConfig& config, EqDirectory& eventQueues, EventPort& events);
  void setFailureSink(QpFailureSink& failures) { failures_ = &failures; }
  /// Where the contexts of queues are looked up. Without one all are on the chip.
  void setCache(CachePort& cache) { cache_ = &cache; }

  // CqDirectory
  CommandResult create(const CqAttributes& attributes, CqNumber& number) override;
  CommandResult destroy(CqNumber number) override;
  CommandResult query(CqNumber number, CqAttributes& attributes) const override;
  CommandResult modifyModeration(CqNumber number, const CqModeration& change) override;
  void refreshConsumerIndex(CqNumber number, std::function<void()> done) override;
  CommandResult resize(CqNumber number, const CqRing& ring) override;
  CommandResult attach(CqNumber number) override;
  void detach(CqNumber number) override;
  void discard(QpNumber qp) override;
  void whenWritten(QpNumber qp, std::function<void()> done) override;

  // CompletionPort. May be called by the QpFailureSink that the engine calls: it only queues.
  void complete(const CompletionRecord& record) override;

  /// The arm register (offset 0x20) of page `uar` was written at Calendar::now(); `word` as the bus has it, most
  /// significant byte first. An unknown queue, or one that belongs to another page, is counted and dropped.
  void onArm(UarIndex uar, std::uint64_t word);

  /// The queue goes to error as if an entry had found no room (`status` kOverflow) or could not be written
  /// (kWriteFailed). False if there is no such queue, or it is in error.
  bool breakQueue(CqNumber number, CqStatus status);

  /// A new queue goes on as if `index` entries had been written and consumed, so that a wrap of an index need not be
  /// waited for. The doorbell record is software's to set.
  void startAt(CqNumber number, std::uint64_t index);

  /// Function-level reset: no queue exists, nothing is under way.
  void reset();

  [[nodiscard]] const CompletionCounters& counters() const { return counters_; }
  /// Null if there is no such queue.
  [[nodiscard]] const CompletionQueue* find(CqNumber number) const;
  /// The highest number of those that exist.
  [[nodiscard]] std::optional<CqNumber> lastQueue() const;
  /// Queues that exist, by number, behind those that were used and destroyed, in the order of their end.
  [[nodiscard]] std::vector<CqSummary> summaries() const;

 private:
  enum class SlotState : std::uint8_t { kFree, kBuilding, kWaiting };
  /// A completion that is not written yet: in the writer (a calendar entry has its slot) or in the list of a full
  /// queue.
  struct Pending {
    CompletionRecord record;
    SlotState state = SlotState::kFree;
    bool dropped = false;
  };
  /// A CQE on its way whose arrival in host memory somebody wants to know.
  struct Watched {
    CqNumber cq;
    std::uint64_t index = 0;
    bool resize = false;
    bool solicited = false;
    observe::WorkRequestId request;
    std::vector<observe::WorkRequestId> more;  // of the completions behind it, if it is several
  };

  // The writer.
  void onCacheReady(std::uint64_t slot) override { build(static_cast<std::uint32_t>(slot)); }
  void build(std::uint32_t slot);
  void onCalendar(std::uint64_t slot) override;
  void deliver(std::uint32_t slot);
  void writeEntry(CompletionQueue& queue, const CompletionRecord& record);
  [[nodiscard]] std::uint64_t timestampOf(const CompletionQueue& queue) const;
  void writePlain(CompletionQueue& queue, const CompletionRecord& record);
  void issueWrite(CompletionQueue& queue, const CompletionRecord& record, const Watched& watched);
  void writeSlot(const CompletionQueue& queue, std::uint64_t index, ByteView bytes, const Watched* watched);
  void writeResizeEntry(CompletionQueue& queue);
  std::uint32_t watch(const Watched& entry);
  void refuse(CompletionQueue* queue, const CompletionRecord& record);
  std::uint32_t acquireSlot();
  void releaseSlot(std::uint32_t slot);
  [[nodiscard]] bool hasPending(QpNumber qp) const;
  void serveAwaited();

  // Compressed sessions.
  bool gather(CompletionQueue& queue, const CompletionRecord& record);
  void openSession(CompletionQueue& queue, const CompletionRecord& record);
  void hold(CompletionQueue& queue, const CompletionRecord& record);
  void watchSession(CompletionQueue& queue);
  void onSessionTimer(std::uint32_t number);
  void closeSession(CompletionQueue& queue, SessionEnd end);
  void closeSessionsOf(QpNumber qp);
  void dropSession(CompletionQueue& queue);
  void writeHeld(CompletionQueue& queue);
  void writeBasicBlock(CompletionQueue& queue, const Watched& watched);

  // A full queue.
  void readConsumerIndex(CompletionQueue& queue);
  void readAhead(CompletionQueue& queue);
  void readRecord(const CompletionQueue& queue, std::uint64_t token);
  void finishRefresh(CompletionQueue& queue);
  void drain(CompletionQueue& queue, bool isAhead);
  void explainOverwrites(CompletionQueue& queue);
  void countLost(CompletionQueue& queue);
  void fail(CompletionQueue& queue, CqStatus status);

  // Events.
  void arm(CompletionQueue& queue, const wire::CqArm& request);
  void raiseIfDue(CompletionQueue& queue);
  void onEventTimer(std::uint32_t number);
  void raiseEvent(CompletionQueue& queue);

  // DmaClient
  void onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) override;
  void onDmaWritten(std::uint64_t token, host::DmaStatus status) override;
  void fireVisible(const Watched& entry);

  [[nodiscard]] CompletionQueue* lookup(CqNumber number);
  /// The queue of a DMA token, unless it was destroyed meanwhile.
  [[nodiscard]] CompletionQueue* queueOf(std::uint64_t token);
  void fireCq(observe::CqAction action, const CompletionQueue& queue, std::uint64_t index);
  static CqSummary summaryOf(const CompletionQueue& queue);

  AdapterContext context_;
  CompletionConfig config_;
  EqDirectory& eventQueues_;
  EventPort& events_;
  QpFailureSink* failures_ = nullptr;
  CachePort* cache_ = nullptr;

  Time buildTime_;
  Time writeTime_;
  Time armTime_;
  AdapterClock timestampClock_;
  Time builderFree_{};

  std::vector<Pending> slots_;
  std::vector<std::uint32_t> freeSlots_;
  struct Awaited {
    QpNumber qp;
    std::function<void()> done;
  };
  std::vector<Awaited> awaited_;  // queue pairs whose last completion somebody waits for
  std::vector<Watched> watched_;
  std::vector<std::uint32_t> freeWatched_;
  CqeImage image_;

  IndexAllocator numbers_;
  std::vector<std::unique_ptr<CompletionQueue>> queues_;
  std::uint8_t nextSerial_ = 0;
  std::vector<CqSummary> retired_;
  kernel::KeyedTimers<CqEngine> eventTimers_;
  kernel::KeyedTimers<CqEngine> sessionTimers_;
  CompletionCounters counters_;
};

}  // namespace hca::adapter

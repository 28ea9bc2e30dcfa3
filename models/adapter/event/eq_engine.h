// The event block: writes EQEs, keeps event queues, fires interrupts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "models/adapter/adapter_context.h"
#include "models/adapter/event/eq_directory.h"
#include "models/adapter/event/event_config.h"
#include "models/adapter/event/event_port.h"
#include "models/adapter/event/event_queue.h"
#include "models/adapter/event/health_sink.h"
#include "models/adapter/event/msix_table.h"
#include "models/adapter/memory/index_allocator.h"
#include "models/adapter/occasions.h"
#include "models/kernel/inbox.h"
#include "models/pcie/dma_port.h"

namespace hca::adapter {

/// Of the whole block: what can't be put down to a queue.
struct EventCounters {
  std::uint64_t unclaimed = 0;  ///< events of a type that no queue takes
  std::uint64_t queueGone = 0;  ///< events of a queue that was destroyed or is in error
  std::uint64_t doorbellsUnknownEq = 0;
  std::uint64_t doorbellsWrongUar = 0;  ///< through a page of registers that is not the queue's
  std::uint64_t doorbellsNonsense = 0;  ///< consumer index ahead of the producer
};

/// One EQE writer for all queues of an adapter, in the order in which events were raised. A completion event goes to
/// the queue it names, any other to each queue whose bitmap has its type.
///
/// An armed queue that has entries its consumer has not taken fires its vector, once: when an entry is written, the
/// message follows it; when the arm finds entries pending, at once. The consumer index comes with the doorbells alone,
/// so a handler must refresh it before a queue's worth of entries has passed. An event that finds the queue full is
/// lost and counted, and the health sink is told; with overrun ignored it is written all the same.
class EqEngine final : public EqDirectory, public EventPort, private pcie::DmaClient {
 public:
  /// All references outlive the engine. `vectors` has config.vectors entries.
  EqEngine(const AdapterContext& context, const EventConfig& config, MsixTable& vectors);
  void setHealthSink(HealthSink& sink) { health_ = &sink; }

  // EqDirectory
  CommandResult create(const EqAttributes& attributes, EqNumber& number) override;
  CommandResult destroy(EqNumber number) override;
  CommandResult query(EqNumber number, EqAttributes& attributes) const override;
  [[nodiscard]] bool accepts(EventType type) const override;
  CommandResult attach(EqNumber number) override;
  void detach(EqNumber number) override;

  // EventPort
  void raiseCompletion(EqNumber eq, CqNumber cq) override;
  void raise(const EventRecord& event) override;

  /// The doorbell of page `uar` that updates the consumer index and arms (offset 0x40), or only updates it (0x48), was
  /// written at Calendar::now(); `word` as the bus has it, most significant byte first. An unknown queue, or one that
  /// belongs to another page, and an index ahead of the producer are counted and dropped.
  void onDoorbell(UarIndex uar, std::uint32_t word, bool arm);

  /// Events that find their queue full, although it has room, because somebody wants it.
  struct Overflow {
    EqNumber eq;
    Occasions occasions;
    std::function<void(EventType type)> happened;  ///< told of each
  };
  void overflow(Overflow overflow) { overflows_.push_back(std::move(overflow)); }

  /// Function-level reset: no queue exists, nothing is under way. The vectors are reset apart.
  void reset();

  [[nodiscard]] const EventCounters& counters() const { return counters_; }
  /// Null if there is no such queue.
  [[nodiscard]] const EventQueue* find(EqNumber number) const;
  /// The queue that events of `type` go to, by its bitmap; 0, which is none, if there is none.
  [[nodiscard]] EqNumber queueOf(EventType type) const;
  /// The first problem since the reset.
  [[nodiscard]] HealthSyndrome healthSyndrome() const { return healthSyndrome_; }

 private:
  struct Pending {
    EventRecord event;
    EqNumber eq;
    std::uint8_t serial = 0;
  };
  struct Doorbell {
    UarIndex uar;
    std::uint32_t word = 0;
    bool arm = false;
  };

  void enqueue(const EventQueue& queue, const EventRecord& event);
  void onPending(Pending& pending);
  void write(EventQueue& queue, const EventRecord& event);
  void onDoorbellArrival(Doorbell& doorbell);
  void interrupt(EventQueue& queue);
  void reportHealth(HealthSyndrome syndrome);
  [[nodiscard]] bool isFull(const EventQueue& queue, EventType type);

  // DmaClient
  void onDmaRead(std::uint64_t, host::DmaStatus, ByteView) override {}
  void onDmaWritten(std::uint64_t token, host::DmaStatus status) override;

  [[nodiscard]] EventQueue* lookup(std::uint32_t number);

  AdapterContext context_;
  EventConfig config_;
  MsixTable& vectors_;
  HealthSink* health_ = nullptr;
  HealthSyndrome healthSyndrome_ = HealthSyndrome::kNone;

  Time buildTime_;
  Time writeTime_;
  Time armTime_;
  Time builderFree_{};

  IndexAllocator numbers_;
  std::vector<std::unique_ptr<EventQueue>> queues_;
  std::uint8_t nextSerial_ = 0;
  std::vector<Overflow> overflows_;
  kernel::Inbox<EqEngine, Pending> events_;
  kernel::Inbox<EqEngine, Doorbell> doorbells_;
  EventCounters counters_;
};

}  // namespace hca::adapter

// Interrupt handlers: event queue entries to whom they concern.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/ids.h"
#include "models/pcie/pci_function.h"
#include "models/wire/eqe.h"
#include "sim/driver/driver_environment.h"
#include "sim/driver/event_ring.h"

namespace hca::driver {

/// Gets the entries, in the order in which they were written to each queue.
class EventTarget {
 public:
  virtual void onCompletionEntry(CqNumber cq, host::Core& core) = 0;
  virtual void onCommandEntry(std::uint32_t slots) = 0;
  virtual void onPageRequestEntry(std::uint16_t function, std::int32_t pages) = 0;
  virtual void onAsyncEntry(const wire::Eqe& eqe) = 0;

 protected:
  ~EventTarget() = default;
};

/// The interrupt handlers of one device. Vector v is handled on core v modulo the number of cores. A handler takes the
/// entries of its queues one by one, refreshes the consumer index before the adapter could believe a queue full, and
/// arms every queue of the vector at the end: an entry that came meanwhile raises the next interrupt.
class EventDispatcher final : public pcie::InterruptSink, private kernel::CalendarClient {
 public:
  EventDispatcher(DriverEnvironment& environment, EventTarget& target);

  /// Adds a queue whose doorbells are in `uar`, and arms it.
  void add(EqNumber number, InterruptVector vector, UarIndex uar, const EventRing& ring);
  /// Its entries are not read any more. The caller frees the ring's buffer.
  EventRing remove(EqNumber number);

  void onInterrupt(InterruptVector vector) override;
  /// Takes the entries of a queue whose interrupt may have been lost, and arms it; how many there were. In no time: the
  /// stock driver does it only when something went wrong.
  std::uint32_t recover(EqNumber number);

  [[nodiscard]] host::Core& coreOf(InterruptVector vector) { return environment_.cpu.core(vector.value()); }
  /// Entries taken so far.
  [[nodiscard]] std::uint64_t entries() const { return entries_; }

 private:
  struct Queue {
    EqNumber number;
    UarIndex uar;
    EventRing ring;
  };
  struct Vector {
    std::vector<Queue> queues;
    bool charged = false;  // the handler has paid for the next entry
    EqNumber chargedQueue;
  };
  void onCalendar(std::uint64_t token) override;
  static Queue* find(Vector& vector, EqNumber number);
  void takeEntry(Queue& queue, host::Core& core);
  void dispatch(const wire::Eqe& eqe, host::Core& core);
  void writeDoorbell(Queue& queue, std::uint64_t registerOffset);

  DriverEnvironment& environment_;
  EventTarget& target_;
  std::vector<Vector> vectors_;
  std::uint64_t entries_ = 0;
};

}  // namespace hca::driver

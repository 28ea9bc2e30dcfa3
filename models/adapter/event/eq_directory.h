// Event queues, as the command interface and the completion queues see them.
#pragma once

#include "models/adapter/command/command_result.h"
#include "models/adapter/event/eq_attributes.h"
#include "models/adapter/event/event_port.h"

namespace hca::adapter {

/// Statuses: an unknown number is kBadResource, a queue in use kResourceBusy, a full table kNoResources, a value above
/// a reported capability kExceedLimit, any other bad field kBadParameter; each with the syndrome of its check.
class EqDirectory {
 public:
  /// Checks size, interrupt vector and pages (aligned, enough for the ring at its offset). `number` is set on success
  /// alone; a refused create changes nothing. The caller has checked the UAR page. Status, state and counters in
  /// `attributes` are ignored: a new queue starts idle at index 0 and raises nothing until it is armed.
  virtual CommandResult create(const EqAttributes& attributes, EqNumber& number) = 0;
  /// Refused as kEqInUse while a completion queue is attached. Later events for the number are dropped and counted.
  virtual CommandResult destroy(EqNumber number) = 0;
  /// Gives the context with its present status, state and counters.
  virtual CommandResult query(EqNumber number, EqAttributes& attributes) const = 0;
  /// Whether an event queue takes events of `type` by its bitmap.
  [[nodiscard]] virtual bool accepts(EventType type) const = 0;

  /// A completion queue that reports here attaches once.
  virtual CommandResult attach(EqNumber number) = 0;
  /// Precondition: attached.
  virtual void detach(EqNumber number) = 0;

 protected:
  ~EqDirectory() = default;
};

}  // namespace hca::adapter

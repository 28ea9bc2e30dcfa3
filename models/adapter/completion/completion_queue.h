// All that the adapter keeps of one completion queue.
#pragma once

#include <cstdint>
#include <functional>

#include "models/adapter/completion/completion_config.h"
#include "models/adapter/completion/compressed_session.h"
#include "models/adapter/completion/cq_attributes.h"
#include "models/adapter/completion/cq_counters.h"
#include "models/adapter/completion/cqe_builder.h"
#include "models/adapter/completion/moderation.h"
#include "models/adapter/completion/notification.h"
#include "models/adapter/completion/ring_occupancy.h"
#include "models/kernel/ring_queue.h"

namespace hca::adapter {

/// Owned by CqEngine.
struct CompletionQueue {
  CompletionQueue(CqNumber cqNumber, const CqAttributes& created, const CompletionConfig& config,
                  std::uint8_t serialNumber)
      : number(cqNumber),
        serial(serialNumber),
        attributes(created),
        builder(created.stride, created.logSize, usesValidity(created), config.poison),
        occupancy(created.logSize),
        notification(config.armRule, created.alwaysArmed) {}

  CqNumber number;
  std::uint8_t serial;  ///< tells successive queues of one number apart
  CqAttributes
      attributes;  ///< as created or modified; `status` is the present one, other state is in the members below
  std::uint32_t holders = 0;
  CqeBuilder builder;
  RingOccupancy occupancy;
  Notification notification;
  Moderation moderation;
  CompressedSession session;
  Time earliestEvent{};  ///< an arm is served no sooner than it is processed
  CqCounters counters;
  bool readingRecord = false;
  bool readsAhead = false;                   ///< that read was made before an entry needed it
  std::function<void()> refreshed;           ///< set while a command waits for the consumer index
  bool refreshRead = false;                  ///< the read for it was answered
  kernel::RingQueue<std::uint32_t> waiting;  ///< completions (slots of the engine's slab) that found the ring full

  [[nodiscard]] bool good() const { return attributes.status == CqStatus::kOk; }
};

}  // namespace hca::adapter

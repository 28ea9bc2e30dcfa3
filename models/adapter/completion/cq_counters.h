// What the completion block counts.
#pragma once

#include <array>
#include <cstdint>

#include "models/adapter/completion/session_policy.h"
#include "models/base/ids.h"

namespace hca::adapter {

/// Of one completion queue.
struct CqCounters {
  std::uint64_t cqes = 0;         ///< entries written
  std::uint64_t overruns = 0;     ///< times the queue went to error because it was full: 0 or 1
  std::uint64_t lost = 0;         ///< overrun ignored: entries overwritten unread, as far as the consumer index tells
  std::uint64_t highWater = 0;    ///< most unread entries, see RingOccupancy::highWater
  std::uint64_t refused = 0;      ///< completions that found the queue in error
  std::uint64_t arms = 0;         ///< arms accepted
  std::uint64_t armsIgnored = 0;  ///< late copies of a served arm
  std::uint64_t events = 0;       ///< completion events raised
  std::uint64_t resizes = 0;      ///< resize entries written
  std::uint64_t compressedSessions = 0;                   ///< of more than one completion
  std::array<std::uint64_t, kSessionEnds> sessionEnds{};  ///< by SessionEnd; those of a single completion, too
  std::uint64_t hazards = 0;                              ///< events that ArmRule::kIbSpec would not have raised
};

/// One completion queue, existing or destroyed.
struct CqSummary {
  CqNumber number;
  std::uint32_t entries = 0;
  std::uint32_t entryBytes = 0;
  CqCounters counters;
};

/// Of the whole block: what can't be put down to a queue, and DMA.
struct CompletionCounters {
  std::uint64_t armsUnknownCq = 0;
  std::uint64_t armsWrongUar = 0;  ///< through a page of registers that is not the queue's
  std::uint64_t completionsUnknownCq = 0;
  std::uint64_t completionsDiscarded = 0;   ///< of queue pairs that were reset
  std::uint64_t consumerIndexReads = 0;     ///< doorbell records read
  std::uint64_t consumerIndexNonsense = 0;  ///< ahead of the producer
};

}  // namespace hca::adapter

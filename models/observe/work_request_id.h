// Names one work request across all stages.
#pragma once

#include <cstdint>

#include "models/base/ids.h"

namespace hca::observe {

/// kTag: the tags of a tag-matching receive queue, and the requests by which the adapter fetches what they are for.
enum class WorkQueue : std::uint8_t { kSend, kReceive, kSharedReceive, kTag };

/// One work request of one queue. `index` is the free-running number of its first block (64-byte WQE basic blocks in a
/// send queue, entries in a receive queue), counted from 0 at the queue pair's creation and not wrapped: software and
/// silicon each extend their 16-bit counter, so both arrive at the same id. A request of a shared receive queue has
/// that queue's number in place of the queue pair's and counts entries in the order in which they were posted, which is
/// the order in which they are taken.
struct WorkRequestId {
  HostIndex host;
  AdapterIndex adapter;
  QpNumber qp;  ///< or the shared receive queue's number
  WorkQueue queue = WorkQueue::kSend;
  std::uint64_t index = 0;

  friend bool operator==(const WorkRequestId& a, const WorkRequestId& b) {
    return a.host == b.host && a.adapter == b.adapter && a.qp == b.qp && a.queue == b.queue && a.index == b.index;
  }
  friend bool operator!=(const WorkRequestId& a, const WorkRequestId& b) { return !(a == b); }
};

/// Extends a 16-bit wire counter to the free-running index that is nearest to `near`.
constexpr std::uint64_t extendIndex(std::uint16_t wire, std::uint64_t near) {
  const auto distance = static_cast<std::int16_t>(static_cast<std::uint16_t>(wire - static_cast<std::uint16_t>(near)));
  return near + static_cast<std::uint64_t>(static_cast<std::int64_t>(distance));
}

}  // namespace hca::observe

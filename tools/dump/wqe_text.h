// Work queues as text.
#pragma once

#include <string>

#include "tools/dump/dump_options.h"
#include "tools/dump/ring_slots.h"

namespace hca::dump {

/// A send queue in 64-byte blocks from block `index` on, once round the ring: control segment, the segments that follow
/// it, and whether the WQE was posted in this pass, which its own block index tells.
[[nodiscard]] std::string sendQueueText(const RingSlots& ring, const DumpOptions& options);

/// A receive queue: data segments up to the terminator. A shared one: where its next segment leads, too. Nothing in the
/// ring tells whether an entry is posted; that is in the doorbell record.
[[nodiscard]] std::string receiveQueueText(const RingSlots& ring, const DumpOptions& options);

}  // namespace hca::dump

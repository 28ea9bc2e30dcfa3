// A completion queue as text.
#pragma once

#include <string>

#include "tools/dump/dump_options.h"
#include "tools/dump/ring_slots.h"

namespace hca::dump {

/// The slots from the consumer index on, once round the ring: index, ownership, and every field of what is valid.
/// Compressed sessions are expanded; what a session leaves out is named.
[[nodiscard]] std::string completionQueueText(const RingSlots& ring, const DumpOptions& options);

}  // namespace hca::dump

// An event queue as text.
#pragma once

#include <string>

#include "tools/dump/dump_options.h"
#include "tools/dump/ring_slots.h"

namespace hca::dump {

/// The slots from the consumer index on, once round the ring: ownership, type, and the fields of the type's data.
[[nodiscard]] std::string eventQueueText(const RingSlots& ring, const DumpOptions& options);

}  // namespace hca::dump

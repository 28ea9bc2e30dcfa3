// Memory of a completion queue that the kernel driver has for itself.
#pragma once

#include <cstdint>
#include <utility>

#include "models/wire/cqe.h"
#include "sim/driver/client_tables.h"
#include "sim/driver/completion_ring.h"
#include "sim/driver/doorbell_records.h"
#include "sim/driver/driver_role.h"
#include "sim/driver/page_list_of.h"

namespace hca::driver {

struct OwnCompletionQueue {
  DmaBuffer ring;
  DoorbellRecord record;

  /// Takes memory for `entries` invalid ones of 64 bytes, a power of two, and says what to create.
  adapter::CqAttributes allocate(DmaMemory& memory, DoorbellRecords& records, UarIndex uar, std::uint32_t entries) {
    const std::uint64_t length = entries * sizeof(wire::Cqe);
    ring = memory.allocate(length);
    record = records.allocate();
    CompletionRing::invalidate(ring.bytes, logOf(entries), sizeof(wire::Cqe));
    adapter::CqAttributes attributes;
    attributes.logSize = static_cast<std::uint8_t>(logOf(entries));
    attributes.uar = uar;
    attributes.ring = pageListOf(ring, length);
    attributes.doorbellRecord = record.bus;
    return attributes;
  }
};

}  // namespace hca::driver

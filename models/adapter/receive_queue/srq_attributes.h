// A shared receive queue's context, decoded.
#pragma once

#include <cstdint>

#include "models/adapter/memory/number_table.h"
#include "models/adapter/memory/page_list.h"
#include "models/base/ids.h"

namespace hca::adapter {

/// Which commands made it. Numbers of all kinds come from one table: a queue pair names any of them by number.
enum class SrqKind : std::uint8_t { kBasic, kXrc, kMemoryPool };

struct SrqAttributes {
  SrqKind kind = SrqKind::kBasic;
  bool cyclic = false;   ///< asked for a ring instead of a linked list; refused
  bool inError = false;  ///< reported by a query
  PdNumber pd;
  std::uint8_t logSize = 0;    ///< log2 of entries
  std::uint8_t logStride = 5;  ///< log2 of bytes an entry, its next segment included
  PageList buffer;
  BusAddress doorbellRecord;  ///< one word: entries posted
  std::uint16_t limit = 0;    ///< an event when fewer entries are left; 0: not armed
  // Of an XRC queue alone.
  XrcdNumber domain;
  CqNumber cq;
  std::uint32_t userIndex = 0;

  // Reported by a query alone.
  std::uint32_t hardwareCounter = 0;  ///< entries taken
  std::uint32_t softwareCounter = 0;  ///< entries posted, as far as the adapter knows
};

}  // namespace hca::adapter

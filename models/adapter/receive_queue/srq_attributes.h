// A shared receive queue's context, decoded.
#pragma once

#include <cstdint>

#include "models/adapter/memory/number_table.h"
#include "models/adapter/memory/page_list.h"
#include "models/base/ids.h"

namespace hca::adapter {

/// Which commands made it. Numbers of all kinds come from one table: a queue pair names any of them by number.
enum class SrqKind : std::uint8_t { kBasic, kXrc, kMemoryPool, kTagMatching };
/// Whether its completions go to a queue of its own, with its own user index.
constexpr bool hasOwnCq(SrqKind kind) { return kind == SrqKind::kXrc || kind == SrqKind::kTagMatching; }

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
  XrcdNumber domain;          ///< of an XRC queue alone
  // Where hasOwnCq.
  CqNumber cq;
  std::uint32_t userIndex = 0;
  // Of a tag-matching queue alone.
  std::uint32_t topology = 0;     ///< xrqc.topology, which must say so
  std::uint8_t logTags = 0;       ///< log2 of the list's places
  bool offersRendezvous = false;  ///< the adapter fetches the data of a matched rendezvous request

  // Reported by a query alone.
  std::uint32_t hardwareCounter = 0;  ///< entries taken
  std::uint32_t softwareCounter = 0;  ///< entries posted, as far as the adapter knows
  std::uint16_t nextTag = 0;          ///< place of the next tag
  std::uint16_t softwarePhase = 0;    ///< unexpected messages that software has handled
  std::uint16_t hardwarePhase = 0;    ///< unexpected messages that the adapter has told of
};

}  // namespace hca::adapter

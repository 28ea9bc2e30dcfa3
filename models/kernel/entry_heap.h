// Calendar entries that are in nobody's way.
#pragma once

#include <vector>

#include "models/kernel/calendar_entry.h"

namespace hca::kernel {

/// A 4-ary heap of entries, earliest at the front: of any times, at a price that grows with their number.
class EntryHeap {
 public:
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// The earliest. Precondition of this and of `pop`: !empty().
  [[nodiscard]] const CalendarEntry& front() const { return entries_.front(); }
  void push(const CalendarEntry& entry);
  CalendarEntry pop();

 private:
  std::vector<CalendarEntry> entries_;
};

}  // namespace hca::kernel

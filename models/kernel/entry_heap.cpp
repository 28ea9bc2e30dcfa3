#include "models/kernel/entry_heap.h"

#include <algorithm>
#include <cstddef>

namespace hca::kernel {

namespace {
constexpr std::size_t kArity = 4;

bool isBefore(const CalendarEntry& a, const CalendarEntry& b) { return a.key() < b.key(); }
}  // namespace

void EntryHeap::push(const CalendarEntry& entry) {
  std::size_t hole = entries_.size();
  entries_.push_back(entry);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kArity;
    if (!isBefore(entry, entries_[parent])) break;
    entries_[hole] = entries_[parent];
    hole = parent;
  }
  entries_[hole] = entry;
}

CalendarEntry EntryHeap::pop() {
  const CalendarEntry earliest = entries_.front();
  const CalendarEntry tail = entries_.back();
  entries_.pop_back();
  const std::size_t size = entries_.size();
  if (size == 0) return earliest;
  std::size_t hole = 0;
  for (;;) {
    const std::size_t first = hole * kArity + 1;
    if (first >= size) break;
    std::size_t best = first;
    const std::size_t last = std::min(first + kArity, size);
    for (std::size_t child = first + 1; child < last; ++child) {
      if (isBefore(entries_[child], entries_[best])) best = child;
    }
    if (!isBefore(entries_[best], tail)) break;
    entries_[hole] = entries_[best];
    hole = best;
  }
  entries_[hole] = tail;
  return earliest;
}

}  // namespace hca::kernel

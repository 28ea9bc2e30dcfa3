#include "models/kernel/calendar.h"

#include <algorithm>
#include <cassert>

namespace hca::kernel {

namespace {
constexpr std::size_t kArity = 4;
constexpr unsigned kPriorityShift = 56;
}  // namespace

void Calendar::schedule(Time when, Priority priority, CalendarClient& client, std::uint64_t token) {
  assert(when >= now_ && "an event can't be scheduled in the past");
  const Entry entry{when, (static_cast<std::uint64_t>(priority) << kPriorityShift) | sequence_++, &client, token};
  std::size_t hole = heap_.size();
  heap_.push_back(entry);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kArity;
    if (!before(entry, heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = entry;
}

void Calendar::siftDown(Entry entry) {
  const std::size_t size = heap_.size();
  std::size_t hole = 0;
  for (;;) {
    const std::size_t first = hole * kArity + 1;
    if (first >= size) break;
    std::size_t best = first;
    const std::size_t last = std::min(first + kArity, size);
    for (std::size_t child = first + 1; child < last; ++child) {
      if (before(heap_[child], heap_[best])) best = child;
    }
    if (!before(heap_[best], entry)) break;
    heap_[hole] = heap_[best];
    hole = best;
  }
  heap_[hole] = entry;
}

void Calendar::step() {
  const Entry entry = heap_.front();
  const Entry tail = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) siftDown(tail);
  now_ = entry.when;
  ++executed_;
  entry.client->onCalendar(entry.token);
}

void Calendar::runUntil(Time limit) {
  while (!stopped_ && !heap_.empty() && heap_.front().when <= limit) step();
  if (!stopped_ && limit != kForever) now_ = later(now_, limit);
}

void Calendar::advanceTo(Time when) {
  assert(when >= now_ && when <= next());
  now_ = when;
}

}  // namespace hca::kernel

#include "models/kernel/calendar.h"

#include <algorithm>
#include <cassert>

namespace hca::kernel {

namespace {
constexpr std::size_t kArity = 4;
}  // namespace

void Calendar::schedule(Time when, Turn turn, CalendarClient& client, std::uint64_t token) {
  assert(when >= now_ && "an event can't be scheduled in the past");
  const WideInteger key = keyOf(when, turn.order_);
  const bool isFar =
      nearCount_ == kNear ? !(key < keyOf(nearAt(kNear - 1))) : !far_.empty() && !(key < keyOf(far_.front()));
  if (isFar) return pushFar({when, turn.order_, &client, token});
  if (nearCount_ == kNear) pushFar(nearAt(--nearCount_));
  // Field by field: an entry that was put together elsewhere would be copied before its parts have left the processor's
  // store buffer, which costs as much as all the rest.
  Entry& entry = makeRoom(key);
  entry.when = when;
  entry.order = turn.order_;
  entry.client = &client;
  entry.token = token;
}

// Moves the entries on the shorter side of the place of `key`.
Calendar::Entry& Calendar::makeRoom(WideInteger key) {
  const bool isInFrontHalf = nearCount_ > 0 && key < keyOf(nearAt(nearCount_ / 2));
  std::size_t place = nearCount_++;
  if (isInFrontHalf) {
    nearFirst_ = (nearFirst_ + kNear - 1) % kNear;
    for (place = 0; keyOf(nearAt(place + 1)) < key; ++place) nearAt(place) = nearAt(place + 1);
  } else {
    for (; place > 0 && key < keyOf(nearAt(place - 1)); --place) nearAt(place) = nearAt(place - 1);
  }
  return nearAt(place);
}

void Calendar::pushFar(const Entry& entry) {
  std::size_t hole = far_.size();
  far_.push_back(entry);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kArity;
    if (!before(entry, far_[parent])) break;
    far_[hole] = far_[parent];
    hole = parent;
  }
  far_[hole] = entry;
}

Calendar::Entry Calendar::popFar() {
  const Entry earliest = far_.front();
  const Entry tail = far_.back();
  far_.pop_back();
  const std::size_t size = far_.size();
  if (size == 0) return earliest;
  std::size_t hole = 0;
  for (;;) {
    const std::size_t first = hole * kArity + 1;
    if (first >= size) break;
    std::size_t best = first;
    const std::size_t last = std::min(first + kArity, size);
    for (std::size_t child = first + 1; child < last; ++child) {
      if (before(far_[child], far_[best])) best = child;
    }
    if (!before(far_[best], tail)) break;
    far_[hole] = far_[best];
    hole = best;
  }
  far_[hole] = tail;
  return earliest;
}

// Half of the room is left for what those entries schedule.
void Calendar::refill() {
  while (nearCount_ < kNear / 2 && !far_.empty()) nearAt(nearCount_++) = popFar();
}

void Calendar::step() {
  const Entry& entry = near_[nearFirst_];
  CalendarClient& client = *entry.client;
  const std::uint64_t token = entry.token;
  now_ = entry.when;
  nearFirst_ = (nearFirst_ + 1) % kNear;
  if (--nearCount_ == 0) refill();
  ++executed_;
  client.onCalendar(token);
}

void Calendar::runUntil(Time limit) {
  while (!stopped_ && !empty() && next() <= limit) step();
  if (!stopped_ && limit != kForever) now_ = later(now_, limit);
}

void Calendar::advanceTo(Time when) {
  assert(when >= now_ && when <= next());
  now_ = when;
}

}  // namespace hca::kernel

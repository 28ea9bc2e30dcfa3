#include "models/kernel/calendar.h"

#include <algorithm>
#include <cassert>

namespace hca::kernel {

// Moves the entries on the shorter side of the place of `key`.
CalendarEntry& Calendar::makeRoom(WideInteger key) {
  const bool isInFrontHalf = nearCount_ > 0 && key < nearAt(nearCount_ / 2).key();
  std::size_t place = nearCount_++;
  if (isInFrontHalf) {
    nearFirst_ = (nearFirst_ + kNear - 1) % kNear;
    for (place = 0; nearAt(place + 1).key() < key; ++place) nearAt(place) = nearAt(place + 1);
  } else {
    for (; place > 0 && key < nearAt(place - 1).key(); --place) nearAt(place) = nearAt(place - 1);
  }
  return nearAt(place);
}

// Into the circle, or into the heap if that is where its neighbours are.
void Calendar::place(WideInteger key, Time when, std::uint64_t order, CalendarClient* client, std::uint64_t token) {
  const bool isBehind =
      nearCount_ == kNear ? !(key < nearAt(kNear - 1).key()) : !heap_.empty() && !(key < heap_.front().key());
  if (isBehind) return heap_.push({when, order, client, token});
  if (nearCount_ == kNear) heap_.push(nearAt(--nearCount_));
  CalendarEntry& entry = makeRoom(key);
  entry.when = when;
  entry.order = order;
  entry.client = client;
  entry.token = token;
}

void Calendar::schedule(Time when, Turn turn, CalendarClient& client, std::uint64_t token) {
  assert(when >= now_ && "an event can't be scheduled in the past");
  const Slot slot = EntryWheel::slotOf(when);
  const bool isInReach = slot - wheelFrom_ < EntryWheel::kSlots;
  const bool areFew = nearCount_ < kFew && wheel_.empty() && isInReach;
  if (slot < wheelFrom_ || areFew || nearCount_ == 0) {
    wheelFrom_ = std::max(wheelFrom_, slot + 1);
    if (nearCount_ == kNear && split()) return schedule(when, turn, client, token);
    return place(CalendarEntry::key(when, turn.order_), when, turn.order_, &client, token);
  }
  if (!isInReach) return heap_.push({when, turn.order_, &client, token});
  // Field by field: an entry that was put together elsewhere would be copied before its parts have left the processor's
  // store buffer, which costs as much as all the rest.
  CalendarEntry& entry = wheel_.add(slot);
  entry.when = when;
  entry.order = turn.order_;
  entry.client = &client;
  entry.token = token;
}

// Moves the later half of the circle to where it would be had it never been in there. False: all of it is a crowd
// within a slot, or the wheel doesn't reach so far back.
bool Calendar::split() {
  const Slot from = EntryWheel::slotOf(nearAt(kNear / 2).when);
  if (from == EntryWheel::slotOf(nearAt(0).when)) return false;
  if (!wheel_.empty() && wheel_.last() - from >= EntryWheel::kSlots) return false;
  wheelFrom_ = from;
  for (;;) {
    const CalendarEntry& entry = nearAt(nearCount_ - 1);
    const Slot slot = EntryWheel::slotOf(entry.when);
    if (slot < from) return true;
    if (slot - from < EntryWheel::kSlots) {
      wheel_.add(slot) = entry;
    } else {
      heap_.push(entry);
    }
    --nearCount_;
  }
}

// Takes what is next to the circle, which is empty: a slot of the wheel, or what the heap has before that. Half of the
// room is left for what those entries schedule.
void Calendar::refill() {
  if (wheel_.empty() && heap_.empty()) return;
  const Slot inWheel = wheel_.empty() ? kNever : wheel_.firstFrom(wheelFrom_);
  const Slot inHeap = heap_.empty() ? kNever : EntryWheel::slotOf(heap_.front().when);
  Slot last = inWheel;
  if (inWheel <= inHeap) {
    wheel_.drain(inWheel, [this](const CalendarEntry& entry) { insert(entry); });
  } else {
    last = std::min(inWheel, inHeap + EntryWheel::kSlots) - 1;
  }
  while (nearCount_ < kNear / 2 && !heap_.empty() && EntryWheel::slotOf(heap_.front().when) <= last) {
    nearAt(nearCount_++) = heap_.pop();
  }
  wheelFrom_ = std::max(wheelFrom_, EntryWheel::slotOf(nearAt(nearCount_ - 1).when) + 1);
}

void Calendar::step() {
  const CalendarEntry& entry = near_[nearFirst_];
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

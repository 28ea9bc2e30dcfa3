#include "models/adapter/receive_queue/tag_list.h"

#include <algorithm>

namespace hca::adapter {

TagList::Append TagList::append(const Tag& tag, std::uint16_t next) {
  if (!isPlace(next)) return Append::kNoSuchPlace;
  Place& place = places_[next_];
  if (place.used) return Append::kOccupied;
  place = {true, inStep(), appended_++, tag};
  order_.push_back(next_);
  next_ = next;
  return Append::kDone;
}

bool TagList::remove(std::uint16_t place) {
  if (!isPlace(place) || !places_[place].used) return false;
  places_[place].used = false;
  order_.erase(std::find(order_.begin(), order_.end(), place));
  return true;
}

void TagList::synchronize(std::uint16_t count) {
  softwareCount_ = count;
  if (!inStep()) return;
  for (const std::uint16_t place : order_) places_[place].active = true;
}

std::optional<TagList::Match> TagList::take(std::uint64_t tag) {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const std::uint16_t at = order_[i];
    Place& place = places_[at];
    if (!place.active || (tag & place.tag.mask) != place.tag.tag) continue;
    place.used = false;
    order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(i));
    return Match{at, place.serial, place.tag.buffer};
  }
  return std::nullopt;
}

}  // namespace hca::adapter

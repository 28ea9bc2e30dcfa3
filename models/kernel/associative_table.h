// What a cache of limited size remembers.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/base/mixed_bits.h"

namespace hca::kernel {

enum class Replacement : std::uint8_t {
  kLeastRecentlyUsed,
  kRandom,
};

/// Keys with a value each, in sets of `ways` places: a key's set is its number modulo the number of sets. A new key
/// takes a free place of its set, else the least recently used one's or a random one's (a function of seed and number
/// of replacements alone). Allocates only at construction and when a key is inserted.
template <class Value>
class AssociativeTable {
 public:
  /// `entries` > 0; `ways` of 0, or more than there are entries, is one set of all. The number of entries is rounded
  /// down to whole sets.
  AssociativeTable(std::uint32_t entries, std::uint32_t ways, Replacement replacement, std::uint64_t seed = 0)
      : ways_(ways == 0 || ways > entries ? entries : ways),
        replacement_(replacement),
        seed_(mixedBits(seed)),
        places_(entries / ways_ * ways_),
        sets_(entries / ways_) {
    for (std::uint32_t i = 0; i < places_.size(); ++i) linkFront(i);
    index_.reserve(places_.size());
  }

  [[nodiscard]] std::uint32_t entries() const { return static_cast<std::uint32_t>(places_.size()); }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(index_.size()); }

  /// The value of `key`, which becomes the most recently used of its set; nullptr if it isn't there.
  Value* find(std::uint64_t key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    if (sets_[setOf(found->second)].first != found->second) {
      unlink(found->second);
      linkFront(found->second);
    }
    return &places_[found->second].value;
  }

  /// Puts `key` in, as the most recently used; the key that had to go for it, if any. Precondition: it isn't there.
  std::optional<std::uint64_t> insert(std::uint64_t key, Value value) {
    assert(index_.count(key) == 0);
    const std::uint32_t place = victim(static_cast<std::uint32_t>(key % sets_.size()));
    std::optional<std::uint64_t> gone;
    if (places_[place].used) gone = places_[place].key;
    if (gone) index_.erase(*gone);
    places_[place].used = true;
    places_[place].key = key;
    places_[place].value = std::move(value);
    index_.emplace(key, place);
    unlink(place);
    linkFront(place);
    return gone;
  }

  /// Forgets all.
  void clear() {
    index_.clear();
    for (Place& place : places_) place.used = false;
  }

  /// Forgets `key`, if it is there; its place is the next to be taken.
  void erase(std::uint64_t key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return;
    const std::uint32_t place = found->second;
    index_.erase(found);
    places_[place].used = false;
    unlink(place);
    linkBack(place);
  }

 private:
  static constexpr std::uint32_t kNone = ~0U;
  struct Place {
    std::uint64_t key = 0;
    std::uint32_t before = kNone;  // towards the most recently used
    std::uint32_t behind = kNone;
    bool used = false;
    Value value{};
  };
  struct Set {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };

  [[nodiscard]] std::uint32_t setOf(std::uint32_t place) const { return place / ways_; }

  // Free places are at the end of the order of use.
  std::uint32_t victim(std::uint32_t set) {
    const std::uint32_t last = sets_[set].last;
    if (replacement_ == Replacement::kLeastRecentlyUsed || !places_[last].used) return last;
    return set * ways_ + static_cast<std::uint32_t>(mixedBits(seed_ ^ ++replacements_) % ways_);
  }

  void unlink(std::uint32_t at) {
    Place& place = places_[at];
    Set& set = sets_[setOf(at)];
    (place.before == kNone ? set.first : places_[place.before].behind) = place.behind;
    (place.behind == kNone ? set.last : places_[place.behind].before) = place.before;
  }
  void linkFront(std::uint32_t at) {
    Set& set = sets_[setOf(at)];
    places_[at].before = kNone;
    places_[at].behind = set.first;
    (set.first == kNone ? set.last : places_[set.first].before) = at;
    set.first = at;
  }
  void linkBack(std::uint32_t at) {
    Set& set = sets_[setOf(at)];
    places_[at].behind = kNone;
    places_[at].before = set.last;
    (set.last == kNone ? set.first : places_[set.last].behind) = at;
    set.last = at;
  }

  std::uint32_t ways_;
  Replacement replacement_;
  std::uint64_t seed_;
  std::uint64_t replacements_ = 0;
  std::vector<Place> places_;
  std::vector<Set> sets_;
  std::unordered_map<std::uint64_t, std::uint32_t> index_;  // never iterated
};

}  // namespace hca::kernel

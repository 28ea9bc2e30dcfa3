// Calendar entries of the next few microseconds, by the nanosecond.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/kernel/calendar_entry.h"

namespace hca::kernel {

/// A circle of slots, each the entries of one span of time in no order: adding one, and finding the first slot that has
/// any, cost the same however many there are.
class EntryWheel {
 public:
  /// Number of a span of 1.024 ns since the start of the simulation. Fine enough that a system of 64 hosts has a
  /// handful of entries a slot.
  using Slot = std::int64_t;
  static constexpr unsigned kLogSpan = 10;
  static constexpr Slot slotOf(Time when) { return when.count() >> kLogSpan; }
  /// Slots of the circle: 4.2 us. Most of what a stage sends to another is due earlier; time-outs are later.
  static constexpr Slot kSlots = 4096;

  EntryWheel() { heads_.fill(kNone); }

  [[nodiscard]] bool empty() const { return wordsInUse_ == 0; }
  /// No slot in use is later.
  [[nodiscard]] Slot last() const { return last_; }

  /// A new entry of `slot`, for the caller to fill, at once. All slots in use lie within `kSlots` of each other.
  CalendarEntry& add(Slot slot) {
    const std::size_t place = placeOf(slot);
    const std::uint32_t node = takeNode();
    nodes_[node].next = heads_[place];
    heads_[place] = node;
    words_[place / kBits] |= std::uint64_t{1} << (place % kBits);
    wordsInUse_ |= std::uint64_t{1} << (place / kBits);
    last_ = std::max(last_, slot);
    return nodes_[node].entry;
  }

  /// The first slot in use from `from` on. Preconditions: !empty(), none before `from` is in use.
  [[nodiscard]] Slot firstFrom(Slot from) const {
    const std::size_t start = placeOf(from);
    const std::uint64_t rest = words_[start / kBits] >> (start % kBits);
    if (rest != 0) return from + lowestBit(rest);
    const std::size_t word = wordAfter(start / kBits);
    const std::size_t place = word * kBits + static_cast<std::size_t>(lowestBit(words_[word]));
    return from + static_cast<Slot>((place - start) % kPlaces);
  }

  /// Takes all entries out of `slot`, which is in use, and gives each to `receive`, which adds none meanwhile.
  template <class Receive>
  void drain(Slot slot, Receive&& receive) {
    const std::size_t place = placeOf(slot);
    words_[place / kBits] &= ~(std::uint64_t{1} << (place % kBits));
    if (words_[place / kBits] == 0) wordsInUse_ &= ~(std::uint64_t{1} << (place / kBits));
    std::uint32_t node = heads_[place];
    heads_[place] = kNone;
    while (node != kNone) {
      const std::uint32_t next = nodes_[node].next;
      receive(static_cast<const CalendarEntry&>(nodes_[node].entry));
      nodes_[node].next = freeNode_;
      freeNode_ = node;
      node = next;
    }
  }

 private:
  struct Node {
    CalendarEntry entry;
    std::uint32_t next;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::size_t kPlaces = kSlots;
  static constexpr std::size_t kBits = 64;
  static_assert(kPlaces == kBits * kBits, "one word tells which words have a bit");

  static std::size_t placeOf(Slot slot) { return static_cast<std::size_t>(slot) % kPlaces; }
  static int lowestBit(std::uint64_t word) { return __builtin_ctzll(word); }
  // The next word in use behind `word`, around the end; `word` itself if there is no other.
  [[nodiscard]] std::size_t wordAfter(std::size_t word) const {
    const std::uint64_t behind = wordsInUse_ & (~std::uint64_t{1} << word);
    return static_cast<std::size_t>(lowestBit(behind != 0 ? behind : wordsInUse_));
  }
  std::uint32_t takeNode() {
    if (freeNode_ == kNone) return growNodes();
    const std::uint32_t node = freeNode_;
    freeNode_ = nodes_[node].next;
    return node;
  }
  std::uint32_t growNodes();

  std::array<std::uint32_t, kPlaces> heads_;  // by place: the first node
  std::array<std::uint64_t, kBits> words_{};  // a bit for each place: in use
  Slot last_ = 0;
  std::uint64_t wordsInUse_ = 0;  // a bit for each word: not zero
  std::vector<Node> nodes_;
  std::uint32_t freeNode_ = kNone;
};

}  // namespace hca::kernel

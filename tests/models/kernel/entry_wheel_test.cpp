#include "models/kernel/entry_wheel.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "models/kernel/entry_heap.h"

namespace hca::kernel {
namespace {

using Slot = EntryWheel::Slot;

std::multiset<std::uint64_t> drained(EntryWheel& wheel, Slot slot) {
  std::multiset<std::uint64_t> tokens;
  wheel.drain(slot, [&](const CalendarEntry& entry) { tokens.insert(entry.token); });
  return tokens;
}

TEST(EntryWheel, AgreesWithAMap) {
  std::mt19937_64 random(11);
  EntryWheel wheel;
  std::map<Slot, std::multiset<std::uint64_t>> reference;
  Slot from = 1'000'000;
  for (std::uint64_t token = 0; token < 50'000; ++token) {
    if (reference.empty() || random() % 2 == 0) {
      const Slot reach = random() % 4 == 0 ? EntryWheel::kSlots : 40;
      const Slot slot = from + static_cast<Slot>(random() % static_cast<std::uint64_t>(reach));
      wheel.add(slot).token = token;
      reference[slot].insert(token);
      EXPECT_GE(wheel.last(), slot);
    } else {
      const Slot first = wheel.firstFrom(from);
      ASSERT_EQ(first, reference.begin()->first);
      EXPECT_EQ(drained(wheel, first), reference.begin()->second);
      reference.erase(reference.begin());
      from = first + 1;
    }
    ASSERT_EQ(wheel.empty(), reference.empty());
  }
}

TEST(EntryWheel, FindsTheLastSlotOfATurn) {
  EntryWheel wheel;
  for (const Slot from : {Slot{0}, Slot{63}, Slot{64}, Slot{4095}, Slot{70'001}}) {
    wheel.add(from + EntryWheel::kSlots - 1).token = 5;
    EXPECT_EQ(wheel.firstFrom(from), from + EntryWheel::kSlots - 1);
    wheel.add(from).token = 6;
    EXPECT_EQ(wheel.firstFrom(from), from);
    EXPECT_EQ(drained(wheel, from).count(6), 1u);
    EXPECT_EQ(drained(wheel, from + EntryWheel::kSlots - 1).count(5), 1u);
    EXPECT_TRUE(wheel.empty());
  }
}

TEST(EntryHeap, AgreesWithASortedSet) {
  std::mt19937_64 random(5);
  EntryHeap heap;
  std::set<std::pair<std::int64_t, std::uint64_t>> reference;
  for (std::uint64_t order = 0; order < 20'000; ++order) {
    if (reference.empty() || random() % 5 < 3) {
      const auto when = static_cast<std::int64_t>(random() % 200);
      heap.push({picoseconds(when), order, nullptr, 0});
      reference.emplace(when, order);
    } else {
      ASSERT_EQ(heap.front().order, reference.begin()->second);
      EXPECT_EQ(heap.pop().when.count(), reference.begin()->first);
      reference.erase(reference.begin());
    }
    ASSERT_EQ(heap.empty(), reference.empty());
  }
}

}  // namespace
}  // namespace hca::kernel

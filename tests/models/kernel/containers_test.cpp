// Clock arithmetic and the containers of the data path.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>

#include "models/kernel/associative_table.h"
#include "models/kernel/clock_domain.h"
#include "models/kernel/payload_pool.h"
#include "models/kernel/ring_queue.h"

namespace hca::kernel {
namespace {

TEST(ClockDomain, EdgesDoNotDrift) {
  const ClockDomain clock(Hertz(1'200'000'000));
  EXPECT_EQ(clock.span(Cycles(1)), picoseconds(834)) << "833.33 ps, rounded up";
  EXPECT_EQ(clock.span(Cycles(1'200'000'000)), milliseconds(1000)) << "no error after a second";
  EXPECT_EQ(clock.edgesUntil(milliseconds(1000)), 1'200'000'000u);
}

TEST(ClockDomain, NextEdgeIsNotBeforeTheTime) {
  const ClockDomain clock(Hertz(1'000'000'000));
  EXPECT_EQ(clock.nextEdge(picoseconds(0)), picoseconds(0));
  EXPECT_EQ(clock.nextEdge(picoseconds(999)), picoseconds(1000));
  EXPECT_EQ(clock.nextEdge(picoseconds(1000)), picoseconds(1000));
  EXPECT_EQ(clock.nextEdge(picoseconds(1001)), picoseconds(2000));
}

TEST(RingQueue, AgreesWithADeque) {
  std::mt19937 random(3);
  RingQueue<std::unique_ptr<int>> queue;
  std::deque<int> reference;
  for (int step = 0; step < 20'000; ++step) {
    if (reference.empty() || random() % 5 < 3) {
      queue.push(std::make_unique<int>(step));
      reference.push_back(step);
    } else {
      ASSERT_EQ(*queue.pop(), reference.front());
      reference.pop_front();
    }
    ASSERT_EQ(queue.size(), reference.size());
    if (reference.empty()) continue;
    const std::size_t place = random() % reference.size();
    ASSERT_EQ(*queue[place], reference[place]);
    ASSERT_EQ(*queue.back(), reference.back());
  }
}

TEST(PayloadPool, BuffersComeBackAndAreReused) {
  PayloadPool pool;
  const std::uint8_t* first = nullptr;
  {
    const Payload payload = pool.acquire(4096);
    first = payload.view().data();
  }
  const Payload again = pool.acquire(100);
  EXPECT_EQ(again.view().data(), first);
  EXPECT_EQ(again.size(), 100u);
}

TEST(PayloadPool, MovingLeavesAnEmptyHandle) {
  PayloadPool pool;
  const std::vector<std::uint8_t> bytes = {1, 2, 3};
  Payload a = pool.copyOf(bytes);
  const Payload b = std::move(a);
  EXPECT_TRUE(a.empty());  // NOLINT: the moved-from state is part of the contract
  EXPECT_EQ(b.view()[2], 3);
  Payload c = pool.copyOf(bytes);
  c = std::move(a);
  EXPECT_TRUE(c.empty());
  EXPECT_EQ(pool.acquire(3).view()[2], 3) << "what it held went back";
}

TEST(AssociativeTable, ReplacesTheLeastRecentlyUsedOfTheSet) {
  AssociativeTable<int> table(4, 2, Replacement::kLeastRecentlyUsed);  // two sets: even and odd keys
  EXPECT_EQ(table.insert(0, 10), std::nullopt);
  EXPECT_EQ(table.insert(2, 12), std::nullopt);
  EXPECT_EQ(table.insert(1, 11), std::nullopt);
  EXPECT_EQ(*table.find(0), 10);
  EXPECT_EQ(table.insert(4, 14), 2u) << "2 was used longest ago";
  EXPECT_EQ(table.find(2), nullptr);
  EXPECT_EQ(*table.find(0), 10);
  EXPECT_EQ(*table.find(1), 11) << "of the other set";
  table.erase(4);
  EXPECT_EQ(table.insert(6, 16), std::nullopt) << "in the place that became free";
  EXPECT_EQ(*table.find(0), 10);
  EXPECT_EQ(table.size(), 3u);
  table.clear();
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(table.insert(0, 20), std::nullopt);
}

TEST(AssociativeTable, RandomReplacementKeepsPartOfALoopThatDoesNotFit) {
  const auto hits = [](Replacement replacement, std::uint64_t seed) {
    AssociativeTable<int> table(64, 0, replacement, seed);
    int found = 0;
    for (std::uint64_t i = 0; i < 6500; ++i) {
      if (table.find(i % 65) != nullptr) {
        ++found;
      } else {
        table.insert(i % 65, 0);
      }
    }
    return found;
  };
  EXPECT_EQ(hits(Replacement::kLeastRecentlyUsed, 1), 0);
  EXPECT_GT(hits(Replacement::kRandom, 1), 5000);
  EXPECT_EQ(hits(Replacement::kRandom, 1), hits(Replacement::kRandom, 1));
  EXPECT_NE(hits(Replacement::kRandom, 1), hits(Replacement::kRandom, 2));
}

}  // namespace
}  // namespace hca::kernel

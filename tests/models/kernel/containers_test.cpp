// Clock arithmetic and the containers of the data path.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>

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
}

}  // namespace
}  // namespace hca::kernel

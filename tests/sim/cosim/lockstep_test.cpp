#include "sim/cosim/lockstep.h"

#include <gtest/gtest.h>

namespace hca::cosim {
namespace {

TEST(Lockstep, HoldsTheSimulationAtTheLeastClock) {
  Lockstep lockstep;
  const auto first = lockstep.add(nanoseconds(100));
  const auto second = lockstep.add(nanoseconds(200));
  EXPECT_EQ(lockstep.horizon(), nanoseconds(100));
  lockstep.charge(first, nanoseconds(150));
  EXPECT_EQ(lockstep.horizon(), nanoseconds(200));
  lockstep.wait(second);
  EXPECT_EQ(lockstep.horizon(), nanoseconds(250)) << "who waits holds nothing up";
  lockstep.leave(first);
  EXPECT_EQ(lockstep.horizon(), kForever);
}

TEST(Lockstep, ThreadGoesOnNoEarlierThanItsOwnClock) {
  Lockstep lockstep;
  const auto thread = lockstep.add(nanoseconds(100));
  lockstep.wait(thread);
  lockstep.run(thread, nanoseconds(90));
  EXPECT_EQ(lockstep.clock(thread), nanoseconds(100));
  lockstep.wait(thread);
  lockstep.run(thread, nanoseconds(170));
  EXPECT_EQ(lockstep.clock(thread), nanoseconds(170));
  EXPECT_EQ(lockstep.horizon(), nanoseconds(170));
}

TEST(Lockstep, CallThatTakesEffectLaterHoldsTheSimulationThere) {
  Lockstep lockstep;
  const auto thread = lockstep.add(nanoseconds(100));
  lockstep.charge(thread, nanoseconds(40));
  lockstep.waitUntilClock(thread);
  EXPECT_EQ(lockstep.horizon(), nanoseconds(140));
  lockstep.remove(thread);
  EXPECT_EQ(lockstep.horizon(), kForever);
}

TEST(Lockstep, TellsHowFarTheOthersAre) {
  Lockstep lockstep;
  const auto first = lockstep.add(nanoseconds(5));
  EXPECT_EQ(lockstep.horizonWithout(first), kForever);
  const auto second = lockstep.add(nanoseconds(7));
  const auto third = lockstep.add(nanoseconds(6));
  lockstep.waitUntilClock(third);
  EXPECT_EQ(lockstep.horizonWithout(first), nanoseconds(6));
  EXPECT_EQ(lockstep.horizonWithout(third), nanoseconds(5));
  // Who waits for something, or is away, doesn't act.
  lockstep.wait(third);
  lockstep.leave(second);
  EXPECT_EQ(lockstep.horizonWithout(first), kForever);
}

}  // namespace
}  // namespace hca::cosim

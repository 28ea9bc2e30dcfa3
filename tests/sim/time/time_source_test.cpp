// Time sources alone: how far a simulation may run.
#include <gtest/gtest.h>

#include "sim/time/free_time_source.h"
#include "sim/time/paced_time_source.h"

namespace hca::sim {
namespace {

using std::chrono::nanoseconds;

TEST(FreeTimeSource, NeverLimits) {
  FreeTimeSource source;
  EXPECT_EQ(source.limit(hca::nanoseconds(5)), kForever);
}

struct Wall {
  nanoseconds now{1'000'000};
  int sleeps = 0;
  PacedTimeSource::Clock clock() {
    return {[this] { return now; },
            [this](nanoseconds span) {
              now += span;
              ++sleeps;
            }};
  }
};

TEST(PacedTimeSource, FollowsTheWallClockByItsScale) {
  Wall wall;
  PacedTimeSource source(0.5, nanoseconds(100), wall.clock());
  const Time start = hca::nanoseconds(700);
  EXPECT_EQ(source.limit(start), start) << "the first question starts the clock";
  wall.now += nanoseconds(40);
  EXPECT_EQ(source.limit(start), start + hca::nanoseconds(20));
}

TEST(PacedTimeSource, NeverAsksTimeToGoBack) {
  Wall wall;
  PacedTimeSource source(1.0, nanoseconds(100), wall.clock());
  EXPECT_EQ(source.limit(Time()), Time());
  EXPECT_EQ(source.limit(hca::nanoseconds(500)), hca::nanoseconds(500)) << "ahead of the wall: it must wait";
}

TEST(PacedTimeSource, WaitingLetsTheLimitGrow) {
  Wall wall;
  PacedTimeSource source(1.0, nanoseconds(100), wall.clock());
  const Time now;
  ASSERT_EQ(source.limit(now), now);
  source.wait(now);
  EXPECT_EQ(wall.sleeps, 1);
  EXPECT_EQ(source.limit(now), hca::nanoseconds(100));
}

}  // namespace
}  // namespace hca::sim

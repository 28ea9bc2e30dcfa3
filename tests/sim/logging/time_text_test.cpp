#include "sim/logging/time_text.h"

#include <gtest/gtest.h>

namespace hca {
namespace {

TEST(TimeText, TakesTheLargestUnit) {
  EXPECT_EQ(timeText(Time(0)), "0 ps");
  EXPECT_EQ(timeText(Time(999)), "999 ps");
  EXPECT_EQ(timeText(Time(1000)), "1 ns");
  EXPECT_EQ(timeText(Time(1001)), "1.001 ns");
  EXPECT_EQ(timeText(Time(870'500)), "870.5 ns");
  EXPECT_EQ(timeText(Time(12'345'600)), "12.346 us");
  EXPECT_EQ(timeText(Time(12'345'499)), "12.345 us");
  EXPECT_EQ(timeText(milliseconds(1500)), "1.5 s");
  EXPECT_EQ(timeText(Time(-1500)), "-1.5 ns");
  EXPECT_EQ(timeText(kForever), "for ever");
}

TEST(TimeText, RoundsIntoTheNextUnit) {
  EXPECT_EQ(timeText(Time(999'999'400)), "999.999 us");
  EXPECT_EQ(timeText(Time(999'999'600)), "1 ms");
}

TEST(TimeText, MicrosecondsKeepAllDecimals) {
  EXPECT_EQ(microsecondsText(Time(0)), "0.000000");
  EXPECT_EQ(microsecondsText(Time(12'345'678)), "12.345678");
  EXPECT_EQ(microsecondsText(Time(-5)), "-0.000005");
}

TEST(TimeText, FormatsWithFmt) {
  EXPECT_EQ(fmt::format("{}", nanoseconds(5)), "5 ns");
  EXPECT_EQ(fmt::format("[{:>8}]", nanoseconds(5)), "[    5 ns]");
}

}  // namespace
}  // namespace hca

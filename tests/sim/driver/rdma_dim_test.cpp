// Each decision of the dynamic moderation policy.
#include "sim/driver/moderation/rdma_dim.h"

#include <gtest/gtest.h>

namespace hca::driver {
namespace {

/// Feeds a policy with rounds of equal length.
class Dim {
 public:
  Dim() { round(1, microseconds(1)); }

  std::optional<CqModerationSetting> round(std::uint64_t completions, Time length) {
    now_ += length;
    return dim.onRound(now_, completions);
  }
  /// One measurement; a new setting is applied at once, and a new measurement is begun.
  std::optional<CqModerationSetting> measure(std::uint64_t completions, Time length = microseconds(1)) {
    for (std::uint64_t n = 1; n < RdmaDim::kRounds; ++n) EXPECT_FALSE(round(completions, length));
    const auto setting = round(completions, length);
    if (setting) {
      dim.onApplied();
      round(completions, length);
    }
    return setting;
  }
  /// Climbs to `step` with ever more completions; returns those of the last measurement.
  std::uint64_t climbTo(std::size_t step) {
    std::uint64_t completions = 100;
    measure(completions);
    while (dim.step() < step) {
      completions += completions / 5;
      EXPECT_TRUE(measure(completions));
    }
    return completions;
  }

  RdmaDim dim;

 private:
  Time now_{};
};

void expectSetting(const std::optional<CqModerationSetting>& setting, std::uint16_t period, std::uint16_t count) {
  ASSERT_TRUE(setting);
  EXPECT_EQ(setting->period, period);
  EXPECT_EQ(setting->count, count);
}

TEST(RdmaDim, StartsWithoutModeration) {
  const Dim dim;
  EXPECT_EQ(dim.dim.initial().count, 0);
  EXPECT_EQ(dim.dim.initial().period, 0);
}

TEST(RdmaDim, FirstMeasurementDecidesNothing) {
  Dim dim;
  EXPECT_FALSE(dim.measure(100));
  EXPECT_EQ(dim.dim.step(), 0U);
}

TEST(RdmaDim, BetterClimbsTheEightStepsOneByOne) {
  Dim dim;
  std::uint64_t completions = 100;
  dim.measure(completions);
  constexpr std::uint16_t kSteps[][2] = {{1, 4}, {2, 4}, {2, 8}, {4, 8}, {16, 8}, {16, 16}, {32, 16}, {32, 32}};
  for (const auto& [period, count] : kSteps) {
    completions += completions / 5;
    expectSetting(dim.measure(completions), period, count);
  }
  EXPECT_EQ(dim.dim.step(), 8U);
}

TEST(RdmaDim, BetterAtTheLastStepTurnsRoundInPlace) {
  Dim dim;
  const std::uint64_t completions = dim.climbTo(8);
  EXPECT_FALSE(dim.measure(completions + completions / 5));
  EXPECT_EQ(dim.dim.step(), 8U);
  EXPECT_FALSE(dim.dim.goesUp());
  expectSetting(dim.measure(2 * completions), 32, 16);
}

TEST(RdmaDim, WorseTurnsRoundAndSteps) {
  Dim dim;
  const std::uint64_t completions = dim.climbTo(3);
  expectSetting(dim.measure(completions / 2), 2, 4);
  EXPECT_FALSE(dim.dim.goesUp());
  expectSetting(dim.measure(completions), 1, 4);
  expectSetting(dim.measure(completions / 2), 2, 4);
  EXPECT_TRUE(dim.dim.goesUp());
}

TEST(RdmaDim, WorseAtTheFirstStepTurnsRoundTwice) {
  Dim dim;
  dim.measure(100);
  EXPECT_FALSE(dim.measure(50)) << "down, where the first setting is the last";
  EXPECT_TRUE(dim.dim.goesUp());
  EXPECT_EQ(dim.dim.step(), 0U);
}

TEST(RdmaDim, TenPerCentAreNoDifferenceElevenAre) {
  Dim dim;
  dim.measure(100);
  EXPECT_FALSE(dim.measure(110));
  expectSetting(dim.measure(123), 1, 4);
}

TEST(RdmaDim, MoreCompletionsARoundAreBetterWhereTheRateIsTheSame) {
  Dim dim;
  dim.measure(100, microseconds(10));
  expectSetting(dim.measure(200, microseconds(20)), 1, 4);
  expectSetting(dim.measure(100, microseconds(10)), 1, 1);
}

TEST(RdmaDim, TheSameStaysWhereItIs) {
  Dim dim;
  const std::uint64_t completions = dim.climbTo(5);
  EXPECT_FALSE(dim.measure(completions));
  EXPECT_EQ(dim.dim.step(), 5U);
  EXPECT_TRUE(dim.dim.goesUp());
}

// Half a completion a round and step: at step 4, two are too few and three are not.
TEST(RdmaDim, TheSameWithFewCompletionsARoundGoesBackToTheStart) {
  for (const std::uint64_t few : {2U, 3U}) {
    Dim dim;
    dim.climbTo(3);
    dim.measure(few * 10);  // worse: down to 2
    dim.measure(few * 5);   // worse: up to 3
    dim.measure(few * 2);   // worse: down to 2
    dim.measure(few);       // worse: up to 3
    ASSERT_EQ(dim.dim.step(), 3U);
    dim.measure(few, nanoseconds(500));  // twice the rate: up to 4
    ASSERT_EQ(dim.dim.step(), 4U);
    const auto setting = dim.measure(few, nanoseconds(500));
    if (few == 2) {
      expectSetting(setting, 1, 1);
    } else {
      EXPECT_FALSE(setting);
    }
  }
}

TEST(RdmaDim, NothingIsMeasuredWhileASettingIsOnItsWay) {
  Dim dim;
  dim.measure(100);
  for (std::uint64_t n = 1; n < RdmaDim::kRounds; ++n) dim.round(200, microseconds(1));
  ASSERT_TRUE(dim.round(200, microseconds(1)));
  for (int n = 0; n < 500; ++n) EXPECT_FALSE(dim.round(1000, microseconds(1)));
  EXPECT_EQ(dim.dim.step(), 1U);
}

TEST(RdmaDim, MeasurementInLessThanAMicrosecondGoesOn) {
  Dim dim;
  for (std::uint64_t n = 0; n < RdmaDim::kRounds + 10; ++n) EXPECT_FALSE(dim.round(1, Time()));
  EXPECT_EQ(dim.dim.step(), 0U);
}

}  // namespace
}  // namespace hca::driver

#include "models/adapter/clock/adapter_clock.h"

#include <gtest/gtest.h>

namespace hca::adapter {
namespace {

constexpr Time kSecond(1'000'000'000'000);

AdapterClock clockOf(unsigned bits, std::uint64_t firstTick) {
  AdapterClock::Settings settings;
  settings.frequency = kernel::ClockDomain(Hertz(1'000'000'000));
  settings.bits = bits;
  settings.firstTick = firstTick;
  return AdapterClock(settings);
}

AdapterClock realFrom(std::uint64_t second, bool flat = false) {
  AdapterClock::Settings settings;
  settings.firstSecond = second;
  settings.flatRealTime = flat;
  return AdapterClock(settings);
}

TEST(AdapterClock, CountsItsFrequency) {
  const AdapterClock clock{kernel::ClockDomain(Hertz(156'250'000))};
  EXPECT_EQ(clock.ticks(nanoseconds(6)), 0u);
  EXPECT_EQ(clock.ticks(Time(6400 - 1)), 0u);
  EXPECT_EQ(clock.ticks(Time(6400)), 1u);
  EXPECT_EQ(clock.ticks(kSecond), 156'250'000u);
}

TEST(AdapterClock, StartsAgainAtItsWidth) {
  for (const unsigned bits : {16U, 41U, 63U}) {
    const std::uint64_t last = (std::uint64_t{1} << bits) - 1;
    const AdapterClock clock = clockOf(bits, last - 1);
    EXPECT_EQ(clock.ticks(Time(0)), last - 1) << bits;
    EXPECT_EQ(clock.ticks(nanoseconds(1)), last) << bits;
    EXPECT_EQ(clock.ticks(nanoseconds(2)), 0u) << bits;
    EXPECT_EQ(clock.ticks(nanoseconds(3)), 1u) << bits;
  }
}

TEST(AdapterClock, RealTimeGoesFromNanosecondsToSeconds) {
  const AdapterClock clock = realFrom(5);
  EXPECT_EQ(clock.realTime(kSecond - nanoseconds(1)), std::uint64_t{5} << 32 | 999'999'999);
  EXPECT_EQ(clock.realTime(kSecond), std::uint64_t{6} << 32);
}

TEST(AdapterClock, RealTimeBeginsAgainIn2038) {
  const AdapterClock clock = realFrom(0x7FFFFFFF);
  EXPECT_EQ(clock.realTime(kSecond - nanoseconds(1)), std::uint64_t{0x7FFFFFFF} << 32 | 999'999'999);
  EXPECT_EQ(clock.realTime(kSecond), 0u);
}

TEST(AdapterClock, FlatRealTimeIsOneNumberAndInStampsAlone) {
  const AdapterClock clock = realFrom(7, true);
  EXPECT_EQ(clock.realTimeStamp(kSecond + nanoseconds(3)), 8'000'000'003U);
  EXPECT_EQ(clock.realTime(kSecond + nanoseconds(3)), std::uint64_t{8} << 32 | 3);
  EXPECT_EQ(realFrom(7).realTimeStamp(kSecond + nanoseconds(3)), std::uint64_t{8} << 32 | 3);
}

}  // namespace
}  // namespace hca::adapter

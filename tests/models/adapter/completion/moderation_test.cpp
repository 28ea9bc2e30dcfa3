#include "models/adapter/completion/moderation.h"

#include <gtest/gtest.h>

namespace hca::adapter {
namespace {

ModerationSetting setting(std::uint16_t count, std::uint16_t period, PeriodMode mode = PeriodMode::kFromEntry) {
  return {count, period, mode, false};
}

TEST(Moderation, OffByDefault) {
  Moderation moderation;
  EXPECT_FALSE(moderation.enabled());
  moderation.addEntry(microseconds(5), false);
  EXPECT_LE(moderation.releaseTime(), microseconds(5));
}

TEST(Moderation, FiveEntriesOfSixteenWaitForThePeriod) {
  Moderation moderation;
  moderation.set(setting(16, 100));
  for (int i = 0; i < 5; ++i) moderation.addEntry(microseconds(7 + i), false);
  EXPECT_EQ(moderation.releaseTime(), microseconds(107)) << "from the first of them";
}

TEST(Moderation, TheSixteenthEntryReleases) {
  Moderation moderation;
  moderation.set(setting(16, 100));
  for (int i = 0; i < 15; ++i) moderation.addEntry(nanoseconds(i), false);
  EXPECT_EQ(moderation.releaseTime(), microseconds(100));
  moderation.addEntry(nanoseconds(15), false);
  EXPECT_EQ(moderation.releaseTime(), Time{});
}

TEST(Moderation, EventStartsTheCountAnew) {
  Moderation moderation;
  moderation.set(setting(2, 100));
  moderation.addEntry(microseconds(1), false);
  moderation.addEntry(microseconds(2), false);
  moderation.eventRaised(microseconds(2));
  moderation.addEntry(microseconds(3), false);
  EXPECT_EQ(moderation.releaseTime(), microseconds(103));
}

TEST(Moderation, PeriodFromTheEventIsShorterThanFromTheEntry) {
  Moderation moderation;
  moderation.set(setting(0, 100, PeriodMode::kFromEvent));
  moderation.addEntry(microseconds(1), false);
  moderation.eventRaised(microseconds(10));
  moderation.addEntry(microseconds(60), false);
  EXPECT_EQ(moderation.releaseTime(), microseconds(110));
}

TEST(Moderation, PeriodFromTheEventThatRanOutUnusedStartsAtTheNextEntry) {
  Moderation moderation;
  moderation.set(setting(16, 100, PeriodMode::kFromEvent));
  moderation.addEntry(microseconds(3), false);
  EXPECT_EQ(moderation.releaseTime(), microseconds(103)) << "no event yet";
  moderation.eventRaised(microseconds(103));
  moderation.addEntry(microseconds(203), false);
  EXPECT_EQ(moderation.releaseTime(), microseconds(303));
}

TEST(Moderation, CountWithoutPeriodWaitsForEntriesAlone) {
  Moderation moderation;
  moderation.set(setting(2, 0));
  moderation.addEntry(microseconds(1), false);
  EXPECT_EQ(moderation.releaseTime(), kForever);
  moderation.addEntry(microseconds(2), false);
  EXPECT_EQ(moderation.releaseTime(), Time{});
}

TEST(Moderation, SolicitedEntryBreaksTheWaitWhereAskedFor) {
  Moderation moderation;
  ModerationSetting breaking = setting(16, 100);
  moderation.set(breaking);
  moderation.addEntry(microseconds(1), true);
  EXPECT_EQ(moderation.releaseTime(), microseconds(101));
  breaking.solicitedBreaks = true;
  moderation.set(breaking);
  EXPECT_EQ(moderation.releaseTime(), Time{});
  moderation.eventRaised(microseconds(2));
  moderation.addEntry(microseconds(3), false);
  EXPECT_EQ(moderation.releaseTime(), microseconds(103));
}

TEST(Moderation, NewSettingKeepsTheEntriesCounted) {
  Moderation moderation;
  moderation.set(setting(16, 100));
  for (int i = 0; i < 5; ++i) moderation.addEntry(microseconds(1), false);
  moderation.set(setting(6, 0));
  EXPECT_EQ(moderation.releaseTime(), kForever);
  moderation.set(setting(5, 0));
  EXPECT_EQ(moderation.releaseTime(), Time{});
  moderation.set(setting(0, 0));
  EXPECT_EQ(moderation.releaseTime(), Time{});
}

TEST(Moderation, NothingNewIsNothingToWaitFor) {
  Moderation moderation;
  moderation.set(setting(16, 100));
  moderation.addEntry(microseconds(1), false);
  moderation.eventRaised(microseconds(2));
  EXPECT_EQ(moderation.releaseTime(), Time{});
}

}  // namespace
}  // namespace hca::adapter

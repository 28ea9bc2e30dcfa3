// Translation, cache and distance of host memory.
#include "models/host/memory_timing.h"

#include <gtest/gtest.h>

namespace hca::host {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr Time kWalk = nanoseconds(230);
constexpr Time kDram = nanoseconds(40);

IommuConfig iommuOf(std::int64_t entries, std::int64_t walkers = 4) {
  IommuConfig config;
  config.enabled = true;
  config.iotlbEntries = entries;
  config.walkers = walkers;
  return config;
}

Time waitOf(Iommu& iommu, std::uint64_t address, Time at) { return iommu.translate(BusAddress(address), at) - at; }

// `pages` in turn, twice; what the second round waits for at most.
Time secondRound(Iommu& iommu, std::uint64_t pages, std::uint64_t pageSize) {
  Time now, longest;
  for (std::uint64_t i = 0; i < 2 * pages; ++i) {
    now += microseconds(1);
    const Time wait = waitOf(iommu, i % pages * pageSize, now);
    if (i >= pages) longest = later(longest, wait);
  }
  return longest;
}

TEST(Iommu, HitsWhileThePagesFitAndWalksForEachAccessOnePageBeyond) {
  Iommu fits(iommuOf(64)), exceeds(iommuOf(64));
  EXPECT_EQ(secondRound(fits, 64, kPage), Time());
  EXPECT_EQ(secondRound(exceeds, 65, kPage), kWalk);
  EXPECT_EQ(exceeds.counters().misses, 130u);
  EXPECT_EQ(exceeds.counters().evictions, 130u - 64u);
}

TEST(Iommu, LargerPagesMoveTheKnee) {
  IommuConfig config = iommuOf(64);
  config.pageSize = PageSize::k2MiB;
  Iommu fits(config), exceeds(config);
  EXPECT_EQ(secondRound(fits, 64, 2 << 20), Time());
  EXPECT_EQ(secondRound(exceeds, 65, 2 << 20), kWalk);
}

TEST(Iommu, WalksShareTheWalkersAndAnAccessToAPageUnderWayJoinsItsWalk) {
  Iommu iommu(iommuOf(64, 2));
  const Time start = microseconds(1);
  EXPECT_EQ(waitOf(iommu, 0 * kPage, start), kWalk);
  EXPECT_EQ(waitOf(iommu, 1 * kPage, start), kWalk);
  EXPECT_EQ(waitOf(iommu, 2 * kPage, start), kWalk * 2) << "no walker is free";
  EXPECT_EQ(waitOf(iommu, 0 * kPage + 64, start + nanoseconds(100)), kWalk - nanoseconds(100));
  EXPECT_EQ(waitOf(iommu, 0 * kPage, start + kWalk), Time());
}

TEST(LastLevelCache, DeviceWritesTakeTheirWaysAloneAndReadsNone) {
  constexpr std::uint64_t kSets = 4;
  LastLevelCache cache(Bytes(kSets * 8 * 64), 8, 2);
  for (std::uint64_t line = 0; line < 2 * kSets; ++line) {
    EXPECT_EQ(cache.write(line), LastLevelCache::Write::kCached) << line;
  }
  EXPECT_EQ(cache.write(2 * kSets), LastLevelCache::Write::kWroteBack) << "a third line of set 0";
  EXPECT_FALSE(cache.read(0)) << "it had to go";
  EXPECT_FALSE(cache.read(0)) << "a device's read brings nothing in";
  EXPECT_TRUE(cache.read(kSets));
  for (std::uint64_t i = 0; i < 8; ++i) cache.touch((100 + i) * kSets);
  EXPECT_FALSE(cache.read(kSets)) << "software has all ways";
  EXPECT_EQ(cache.write(100 * kSets), LastLevelCache::Write::kCached) << "a line that is there is updated";
  cache.drop(100 * kSets);
  EXPECT_FALSE(cache.read(100 * kSets));
}

TEST(LastLevelCache, WithoutWaysForDevicesWritesGoToMemory) {
  LastLevelCache cache(Bytes(4096), 4, 0);
  EXPECT_EQ(cache.write(1), LastLevelCache::Write::kWentThrough);
  EXPECT_FALSE(cache.read(1));
}

TEST(MemoryTiming, AddsWhatAnAccessMeets) {
  IommuConfig iommu;
  MemoryConfig memory;
  EXPECT_FALSE(MemoryTiming::delays(iommu, memory));
  memory.cacheSize = Bytes(1 << 20);
  memory.freshPayload = false;
  MemoryTiming timing(iommu, memory);
  using Source = MemoryTiming::Source;
  const BusAddress address(1 << 20);
  EXPECT_EQ(timing.readDelay(address, 64, Source::kPayload, Time()), kDram);
  EXPECT_EQ(timing.readDelay(address, 64, Source::kSoftware, Time()), Time()) << "just written";
  EXPECT_EQ(timing.readDelay(address, 65, Source::kUnknown, Time()), kDram) << "its second line isn't there";
  EXPECT_EQ(timing.writeDelay(advance(address, 64), 64, Time()), Time());
  EXPECT_EQ(timing.readDelay(address, 128, Source::kUnknown, Time()), Time());
  timing.chill(address, 128);
  EXPECT_EQ(timing.readDelay(address, 128, Source::kUnknown, Time()), kDram);
  timing.warm(address, 128);
  EXPECT_EQ(timing.readDelay(address, 128, Source::kUnknown, Time()), Time());
}

TEST(MemoryTiming, AnotherSocketIsFurtherAwayAndTakesNoDirectWrites) {
  MemoryConfig memory;
  memory.cacheSize = Bytes(1 << 20);
  MemoryTiming timing({}, memory);
  timing.setNode(BusAddress(8192), 4096, MemoryNode::kRemote);
  const auto read = [&](std::uint64_t at) {
    return timing.readDelay(BusAddress(at), 64, MemoryTiming::Source::kSoftware, Time());
  };
  EXPECT_EQ(read(8191 - 63), Time());
  EXPECT_EQ(read(8192), memory.remoteLatency);
  EXPECT_EQ(read(8192 + 4096 - 64), memory.remoteLatency);
  EXPECT_EQ(read(8192 + 4096), Time());
  EXPECT_EQ(timing.writeDelay(BusAddress(8192), 64, Time()), memory.remoteLatency + kDram);
}

}  // namespace
}  // namespace hca::host

#include "models/pcie/link_timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace hca::pcie {
namespace {

PcieConfig configOf(std::int64_t generation, LinkWidth width) {
  PcieConfig config;
  config.generation = generation;
  config.width = width;
  return config;
}
LinkTiming timingOf(std::int64_t generation, LinkWidth width) { return LinkTiming(configOf(generation, width)); }
double gigabits(BitsPerSecond rate) { return static_cast<double>(rate.count()) / 1e9; }

// Millions a second of something that takes `bytes` on the link.
double millions(const LinkTiming& timing, double bytes) {
  return static_cast<double>(timing.usableRate().count()) / 8 / bytes / 1e6;
}

struct Published {
  std::int64_t generation;
  LinkWidth width;
  double usable, cqe64, cqe128, fourCqes, compressed8, compressed64, receive64;
};
// The published byte model at a maximum payload of 256.
constexpr Published kPublished[] = {
    {3, LinkWidth::kX8, 57.9, 82, 48, 103, 329, 585, 41},
    {3, LinkWidth::kX16, 113.7, 162, 93, 203, 646, 1149, 81},
    {4, LinkWidth::kX16, 227.4, 323, 187, 406, 1292, 2297, 162},
    {5, LinkWidth::kX16, 454.8, 646, 374, 812, 2584, 4594, 323},
};

TEST(LinkTiming, UsableRatesAreThePublishedOnes) {
  for (const Published& row : kPublished) {
    EXPECT_NEAR(gigabits(timingOf(row.generation, row.width).usableRate()), row.usable, 0.05);
  }
}

TEST(LinkTiming, CqeRateLimitsAreThePublishedOnes) {
  for (const Published& row : kPublished) {
    const LinkTiming timing = timingOf(row.generation, row.width);
    const auto bytes = [&](std::uint32_t length) {
      return static_cast<double>(timing.writes(0x10000, length, 256).bytes.count());
    };
    const double tolerance = 0.5 + row.compressed64 * 1e-4;
    EXPECT_NEAR(millions(timing, bytes(64)), row.cqe64, 0.5);
    EXPECT_NEAR(millions(timing, bytes(128)), row.cqe128, 0.51);
    EXPECT_NEAR(4 * millions(timing, bytes(256)), row.fourCqes, 0.5);
    EXPECT_NEAR(8 * millions(timing, 2 * bytes(64)), row.compressed8, tolerance);
    EXPECT_NEAR(64 * millions(timing, 9 * bytes(64)), row.compressed64, 2 * tolerance);
    EXPECT_NEAR(millions(timing, 2 * bytes(64)), row.receive64, 0.5);
  }
}

// 175 M lines of 64 bytes a second through sixteen lanes, each with 26 bytes of its own (K3).
TEST(LinkTiming, RawRateCarriesTheWriteCombiningCeiling) {
  EXPECT_NEAR(static_cast<double>(timingOf(3, LinkWidth::kX16).rawRate().count()) / 8 / (64 + 26) / 1e6, 175, 0.1);
}

TEST(LinkTiming, LineCodes) {
  EXPECT_EQ(timingOf(1, LinkWidth::kX1).rawRate(), BitsPerSecond(2'000'000'000));
  EXPECT_EQ(timingOf(2, LinkWidth::kX8).rawRate(), BitsPerSecond(32'000'000'000));
  EXPECT_EQ(timingOf(3, LinkWidth::kX8).rawRate(), BitsPerSecond(63'015'384'615));
  EXPECT_EQ(timingOf(4, LinkWidth::kX16).rawRate(), BitsPerSecond(252'061'538'461));
  EXPECT_EQ(timingOf(6, LinkWidth::kX16).rawRate(), BitsPerSecond(1'024'000'000'000));
  EXPECT_EQ(timingOf(6, LinkWidth::kX16).usableRate(), BitsPerSecond(944'000'000'000));
}

// Latency limits in the tables of the PCI Express Base Specification, 3.6.3.1.
TEST(LinkTiming, AckIntervalsAreTheSpecifiedOnes) {
  EXPECT_EQ(timingOf(3, LinkWidth::kX8).ackInterval(), Bytes(203));
  EXPECT_EQ(timingOf(3, LinkWidth::kX16).ackInterval(), Bytes(168));
  EXPECT_EQ(timingOf(1, LinkWidth::kX1).ackInterval(), Bytes(416));
  PcieConfig config = configOf(1, LinkWidth::kX16);
  config.maxPayload = Bytes(4096);
  EXPECT_EQ(LinkTiming(config).ackInterval(), Bytes(534));
  config.ackInterval = Bytes(300);
  config.flowControlInterval = Bytes(400);
  EXPECT_EQ(LinkTiming(config).ackInterval(), Bytes(300));
  const double left = 1 - 8.0 / 300 - 8.0 / 400 - 4.0 / 1538;
  EXPECT_NEAR(gigabits(LinkTiming(config).usableRate()), 32 * left, 1e-6);
}

TEST(LinkTiming, WriteEfficiencyIsThePublishedFormula) {
  const LinkTiming timing = timingOf(3, LinkWidth::kX8);
  for (const std::uint32_t maxPayload : {128U, 256U, 512U}) {
    for (std::uint32_t size = 1; size <= 4096; ++size) {
      const double formula = size / (size + 24 * std::ceil(static_cast<double>(size) / maxPayload));
      const Burst burst = timing.writes(0x7000, size, maxPayload);
      ASSERT_DOUBLE_EQ(size / static_cast<double>(burst.bytes.count()), formula) << size << " at " << maxPayload;
    }
  }
}

TEST(LinkTiming, ReadEfficiencyIsThePublishedFormula) {
  for (const std::int64_t boundary : {64, 128}) {
    PcieConfig config = configOf(3, LinkWidth::kX8);
    config.readCompletionBoundary = Bytes(boundary);
    const LinkTiming timing(config);
    for (std::uint32_t size = 1; size <= 4096; ++size) {
      const double formula =
          size / (size + 20 * std::ceil(size / std::min<double>(256, static_cast<double>(boundary))));
      ASSERT_DOUBLE_EQ(size / static_cast<double>(timing.completions(0x7000, size, 512).bytes.count()), formula);
      ASSERT_EQ(timing.readRequests(0x7000, size, 512).bytes.count(), 24 * ((size + 511) / 512));
    }
  }
}

TEST(LinkTiming, EcrcAddsFourBytesToEachTlp) {
  PcieConfig config = configOf(3, LinkWidth::kX8);
  config.ecrc = true;
  const LinkTiming timing(config);
  EXPECT_EQ(timing.writes(0, 64, 256).bytes, Bytes(64 + 28));
  EXPECT_EQ(timing.readRequests(0, 1024, 512).bytes, Bytes(2 * 28));
  EXPECT_EQ(timing.completions(0, 64).bytes, Bytes(64 + 24));
  EXPECT_EQ(timing.completionsWithoutData(3).bytes, Bytes(3 * 24));
}

// TLP by TLP, as a person would cut it.
Burst slowWrites(const LinkTiming& timing, std::uint64_t address, std::uint32_t length, std::uint32_t most) {
  Burst sum;
  while (length > 0) {
    std::uint32_t piece = std::min(length, most);
    if (address / 4096 != (address + piece - 1) / 4096) piece = static_cast<std::uint32_t>(4096 - address % 4096);
    sum = sum + Burst{1, (piece + 15) / 16, Bytes(piece + 24), timing.tlpTime(Bytes(piece + 24))};
    address += piece;
    length -= piece;
  }
  return sum;
}
Burst slowCompletions(const LinkTiming& timing, std::uint64_t address, std::uint32_t length, std::uint32_t unit) {
  Burst sum;
  while (length > 0) {
    const auto piece = std::min<std::uint32_t>(length, unit - static_cast<std::uint32_t>(address % unit));
    sum = sum + Burst{1, (piece + 15) / 16, Bytes(piece + 20), timing.tlpTime(Bytes(piece + 20))};
    address += piece;
    length -= piece;
  }
  return sum;
}
void expectEqual(const Burst& a, const Burst& b, const std::string& where) {
  ASSERT_EQ(a.tlps, b.tlps) << where;
  ASSERT_EQ(a.dataCredits, b.dataCredits) << where;
  ASSERT_EQ(a.bytes.count(), b.bytes.count()) << where;
  ASSERT_EQ(a.duration.count(), b.duration.count()) << where;
}

TEST(LinkTiming, ABurstIsTheSumOfItsTlps) {
  const LinkTiming timing = timingOf(4, LinkWidth::kX4);
  for (const std::uint32_t length : {1U, 15U, 16U, 17U, 63U, 64U, 65U, 255U, 256U, 257U, 1000U, 4096U, 9000U}) {
    for (const std::uint64_t address : {0x0ULL, 0x1ULL, 0x3FULL, 0x40ULL, 0xFC0ULL, 0xFFFULL, 0x12345ULL}) {
      const std::string where = std::to_string(length) + " at " + std::to_string(address);
      expectEqual(timing.writes(address, length, 256), slowWrites(timing, address, length, 256), where);
      const Burst requests = slowWrites(timing, address, length, 512);
      EXPECT_EQ(timing.readRequests(address, length, 512).tlps, requests.tlps) << where;
      const auto toPage = static_cast<std::uint32_t>(4096 - address % 4096);
      if (length > toPage) continue;
      expectEqual(timing.completions(address, length), slowCompletions(timing, address, length, 64), where);
    }
  }
}

TEST(LinkTiming, CompletionsOfSeveralRequestsStartAnewAtEach) {
  const LinkTiming timing = timingOf(3, LinkWidth::kX8);
  // 0x20..0x21F in requests of 128 bytes: each begins 32 bytes after a boundary, so each takes three completions.
  EXPECT_EQ(timing.completions(0x20, 512, 128).tlps, 4U * 3U);
  EXPECT_EQ(timing.completions(0x20, 512, 512).tlps, 9U);
}

TEST(LinkTiming, RefusesSizesWithoutCode) {
  PcieConfig config;
  config.maxPayload = Bytes(300);
  EXPECT_THROW(LinkTiming{config}, std::invalid_argument);
  config = PcieConfig();
  config.maxReadRequest = Bytes(64);
  EXPECT_THROW(LinkTiming{config}, std::invalid_argument);
  config = PcieConfig();
  config.readCompletionBoundary = Bytes(96);
  EXPECT_THROW(LinkTiming{config}, std::invalid_argument);
  config = PcieConfig();
  config.ackInterval = Bytes(8);
  EXPECT_THROW(LinkTiming{config}, std::invalid_argument);
}

}  // namespace
}  // namespace hca::pcie

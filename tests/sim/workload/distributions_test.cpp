// Sizes and arrivals against the distributions that they are drawn from.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "sim/workload/arrivals.h"
#include "sim/workload/message_sizes.h"
#include "sim/workload/message_verbs.h"

namespace hca::sim {
namespace {

constexpr std::uint64_t kDraws = 100'000;

FlowConfig sizes(SizeDistribution distribution) {
  FlowConfig flow;
  flow.kind = FlowKind::kBandwidth;
  flow.size_distribution = distribution;
  flow.size = Bytes(4096);
  return flow;
}

/// Sum over the cells of (seen - expected)^2 / expected.
double chiSquare(const std::map<std::uint32_t, std::uint64_t>& seen, const std::map<std::uint32_t, double>& expected) {
  double sum = 0;
  for (const auto& [cell, count] : expected) {
    const auto found = seen.find(cell);
    const double difference = (found == seen.end() ? 0.0 : static_cast<double>(found->second)) - count;
    sum += difference * difference / count;
  }
  return sum;
}

TEST(SizeMixText, IsReadOrComplainedAbout) {
  const SizeMix mix = parseSizeMix("64B:50,4KiB: 30 , 1MiB");
  EXPECT_EQ(mix.problem, "");
  using Part = std::pair<std::uint32_t, std::uint32_t>;
  EXPECT_EQ(mix.parts, (std::vector<Part>{{64, 50}, {4096, 30}, {1U << 20, 1}}));
  EXPECT_EQ(mix.weights, 81U);
  for (const char* text : {"", "64", "64B:", "64B:0", "64B:-1", ":5", "64B:1,", "64KB:1", "2048MiB:1", "64B:1:1"}) {
    EXPECT_NE(parseSizeMix(text).problem, "") << text;
  }
}

TEST(MessageSizes, FixedIsTheSize) {
  const MessageSizes fixed(sizes(SizeDistribution::kFixed), 1);
  EXPECT_EQ(fixed.of(3, 12345), 4096U);
  EXPECT_EQ(fixed.least(), 4096U);
}

// 2 degrees of freedom: 13.8 is exceeded once in a thousand.
TEST(MessageSizes, MixFollowsItsWeights) {
  FlowConfig flow = sizes(SizeDistribution::kMix);
  flow.size_mix = "64B:50, 512B:30, 4KiB:20";
  const MessageSizes mix(flow, 7);
  EXPECT_EQ(mix.least(), 64U);
  std::map<std::uint32_t, std::uint64_t> seen;
  for (std::uint64_t i = 0; i < kDraws; ++i) ++seen[mix.of(0, i)];
  EXPECT_EQ(seen.size(), 3U);
  EXPECT_LT(chiSquare(seen, {{64, 0.5 * kDraws}, {512, 0.3 * kDraws}, {4096, 0.2 * kDraws}}), 13.8);
}

// 99 degrees of freedom: 148 is exceeded once in a thousand.
TEST(MessageSizes, UniformTakesEverySizeAlike) {
  FlowConfig flow = sizes(SizeDistribution::kUniform);
  flow.size_min = Bytes(101);
  flow.size = Bytes(200);
  const MessageSizes uniform(flow, 7);
  std::map<std::uint32_t, std::uint64_t> seen;
  for (std::uint64_t i = 0; i < kDraws; ++i) ++seen[uniform.of(i % 4, i)];
  EXPECT_EQ(seen.begin()->first, 101U);
  EXPECT_EQ(seen.rbegin()->first, 200U);
  std::map<std::uint32_t, double> expected;
  for (std::uint32_t size = 101; size <= 200; ++size) expected[size] = kDraws / 100.0;
  EXPECT_LT(chiSquare(seen, expected), 148);
}

// The logarithm in cells of half a deviation, from -2 to 2.
TEST(MessageSizes, LogNormalHasItsMedianAndDeviation) {
  FlowConfig flow = sizes(SizeDistribution::kLogNormal);
  flow.size = Bytes(1 << 30);
  flow.size_median = Bytes(100'000);
  flow.size_sigma = 0.8;
  const MessageSizes lognormal(flow, 7);
  std::map<std::uint32_t, std::uint64_t> seen;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double deviations = std::log(lognormal.of(0, i) / 100'000.0) / 0.8;
    ++seen[static_cast<std::uint32_t>(std::floor(deviations * 2) + 100)];
  }
  std::map<std::uint32_t, double> expected;
  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  for (int cell = -4; cell < 4; ++cell) {
    expected[static_cast<std::uint32_t>(cell + 100)] = kDraws * (below((cell + 1) / 2.0) - below(cell / 2.0));
  }
  EXPECT_LT(chiSquare(seen, expected), 26.1) << "8 cells: exceeded once in a thousand";
}

TEST(MessageSizes, DependOnTheSeedAlone) {
  FlowConfig flow = sizes(SizeDistribution::kUniform);
  const MessageSizes one(flow, 1), again(flow, 1), other(flow, 2);
  int equal = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(one.of(0, i), again.of(0, i));
    equal += one.of(0, i) == other.of(0, i) ? 1 : 0;
  }
  EXPECT_LT(equal, 10);
}

TEST(SizeTableText, WeightsOrShares) {
  const SizeTable weights = parseSizeTable("# what a trace had\n64, 50\r\n\n4KiB,\t25.5\n128B,24.5\n");
  ASSERT_TRUE(weights.problems.empty());
  ASSERT_EQ(weights.rows.size(), 3U);
  EXPECT_EQ(weights.rows[1].least, 4096U);
  EXPECT_EQ(weights.rows[1].most, 4096U);
  EXPECT_EQ(weights.rows[1].line, 4);
  EXPECT_DOUBLE_EQ(weights.rows[1].share, 0.755);
  EXPECT_EQ(weights.least(), 64U);
  for (const char* text : {"size,cdf\n64,0.5\n128,0.5\n1KiB,1\n", "size, cdf\n64,50\n128,50\n1KiB,100"}) {
    const SizeTable shares = parseSizeTable(text);
    ASSERT_TRUE(shares.problems.empty()) << text;
    ASSERT_EQ(shares.rows.size(), 3U);
    EXPECT_EQ(shares.rows[0].least, 64U);
    EXPECT_EQ(shares.rows[2].least, 129U);
    EXPECT_EQ(shares.rows[2].most, 1024U);
    EXPECT_DOUBLE_EQ(shares.rows[2].share, 1);
  }
  EXPECT_EQ(parseSizeTable("size,weight\n8,0\n64,1\n").least(), 64U) << "8 never comes";
}

TEST(SizeTableText, WhatIsWrongIsToldWithItsLine) {
  struct Case {
    const char* text;
    int line;
    const char* column;
  };
  const Case cases[] = {
      {"", 1, "file"},
      {"# nothing\n", 1, "file"},
      {"64,1\nlong,1\n", 2, "size"},
      {"64,1\n4KB,1\n", 2, "size"},
      {"2GiB,1\n", 1, "size"},
      {"1025MiB,1\n", 1, "size"},
      {"-64,1\n", 1, "size"},
      {"64,1\n128\n", 2, "weight"},
      {"64,1\n128,\n", 2, "weight"},
      {"64,-1\n", 1, "weight"},
      {"64,1,2\n", 1, "weight"},
      {"64,nan\n", 1, "weight"},
      {"64,1e999\n", 1, "weight"},
      {"64,0\n128,0\n", 2, "weight"},
      {"size,share\n64,1\n", 1, "size"},
      {"64,1\nsize,weight\n", 2, "size"},
      {"size,cdf\n", 1, "file"},
      {"size,cdf\n64,0.5\n64,1\n", 3, "size"},
      {"size,cdf\n64,0.5\n128,0.4\n", 3, "cdf"},
      {"size,cdf\n64,0.5\n128,0.9\n", 3, "cdf"},
      {"size,cdf\n64,0\n128,0\n", 3, "cdf"},
  };
  for (const Case& each : cases) {
    const SizeTable table = parseSizeTable(each.text);
    ASSERT_FALSE(table.problems.empty()) << each.text;
    EXPECT_EQ(table.problems[0].line, each.line) << each.text;
    EXPECT_EQ(table.problems[0].column, each.column) << each.text;
  }
  EXPECT_EQ(parseSizeTable("a,1\n64,b\n64,1\n").problems.size(), 2U) << "all are told at once";
}

// 9 degrees of freedom: 27.9 is exceeded once in a thousand.
TEST(MessageSizes, AFileIsFollowed) {
  FlowConfig flow = sizes(SizeDistribution::kFile);
  flow.size_table = parseSizeTable("size,cdf\n64,0.3\n1000,0.3\n1080,0.7\n2000,0.7\n2001,1\n");
  const MessageSizes drawn(flow, 7);
  EXPECT_EQ(drawn.least(), 64U);
  std::map<std::uint32_t, std::uint64_t> seen;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const std::uint32_t size = drawn.of(i % 4, i);
    ++seen[size > 1000 && size <= 1080 ? (size - 1001) / 10 + 1001 : size];
  }
  std::map<std::uint32_t, double> expected{{64, 0.3 * kDraws}, {2001, 0.3 * kDraws}};
  for (std::uint32_t cell = 1001; cell < 1009; ++cell) expected[cell] = 0.05 * kDraws;
  EXPECT_EQ(seen.size(), expected.size());
  EXPECT_LT(chiSquare(seen, expected), 27.9);
}

// 3 degrees of freedom: 16.3 is exceeded once in a thousand.
TEST(MessageVerbs, FollowTheirWeightsWhateverTheSizes) {
  FlowConfig flow = sizes(SizeDistribution::kMix);
  flow.size_mix = "64B, 4KiB";
  flow.verb_mix = "write:50, read:30, send:15, fetch_add:5";
  const MessageVerbs verbs(flow, 7), other(flow, 8);
  const MessageSizes lengths(flow, 7);
  for (const std::uint32_t size : {64U, 4096U}) {
    std::map<std::uint32_t, std::uint64_t> seen;
    double count = 0;
    int equal = 0;
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      if (lengths.of(i % 3, i) != size) continue;
      ++count;
      ++seen[static_cast<std::uint32_t>(verbs.of(i % 3, i))];
      equal += verbs.of(i % 3, i) == other.of(i % 3, i) ? 1 : 0;
    }
    const auto of = [](FlowVerb verb) { return static_cast<std::uint32_t>(verb); };
    EXPECT_LT(chiSquare(seen, {{of(FlowVerb::kWrite), 0.5 * count},
                               {of(FlowVerb::kRead), 0.3 * count},
                               {of(FlowVerb::kSend), 0.15 * count},
                               {of(FlowVerb::kFetchAdd), 0.05 * count}}),
              16.3);
    EXPECT_LT(equal, 0.4 * count) << "the seed makes no difference";
  }
}

FlowConfig arriving(ArrivalKind kind, std::uint32_t burst = 1) {
  FlowConfig flow;
  flow.arrival = kind;
  flow.rate = 3'000'000;  // 333,333.3 ps apart
  flow.burst_size = burst;
  return flow;
}

TEST(Arrivals, FixedAreMultiplesWithoutAGrowingError) {
  Arrivals arrivals(arriving(ArrivalKind::kFixed), 1);
  arrivals.start(microseconds(5));
  EXPECT_EQ(arrivals.next(), microseconds(5));
  for (int i = 0; i < 3'000'000; ++i) arrivals.advance();
  EXPECT_EQ(arrivals.count(), 3'000'000U);
  EXPECT_EQ(arrivals.next(), microseconds(5) + milliseconds(1000));
}

TEST(Arrivals, BurstsComeTogetherAtTheSameRate) {
  Arrivals arrivals(arriving(ArrivalKind::kBurst, 30), 1);
  arrivals.start(Time());
  for (int i = 0; i < 300; ++i, arrivals.advance()) EXPECT_EQ(arrivals.next(), microseconds(10) * (i / 30)) << i;
}

// Gaps in ten cells of the same probability: 9 degrees of freedom, 27.9 is exceeded once in a thousand.
TEST(Arrivals, PoissonGapsAreExponential) {
  Arrivals arrivals(arriving(ArrivalKind::kPoisson), 9);
  arrivals.start(Time());
  std::map<std::uint32_t, std::uint64_t> seen;
  Time before = Time();
  for (std::uint64_t i = 0; i < kDraws; ++i, arrivals.advance()) {
    const double gap = static_cast<double>((arrivals.next() - before).count()) / (1e12 / 3'000'000);
    before = arrivals.next();
    ++seen[static_cast<std::uint32_t>((1 - std::exp(-gap)) * 10)];
  }
  std::map<std::uint32_t, double> expected;
  for (std::uint32_t cell = 0; cell < 10; ++cell) expected[cell] = kDraws / 10.0;
  EXPECT_LT(chiSquare(seen, expected), 27.9);
}

}  // namespace
}  // namespace hca::sim

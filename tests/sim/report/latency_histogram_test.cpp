#include "sim/report/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace hca::report {
namespace {

Time nearestRank(std::vector<Time> samples, unsigned perMille) {
  std::sort(samples.begin(), samples.end());
  const std::size_t rank = (samples.size() * perMille + 999) / 1000;
  return samples[rank - 1];
}

std::vector<Time> randomSamples(std::size_t n, double logMean) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> distribution(logMean, 1.5);
  std::vector<Time> samples;
  for (std::size_t i = 0; i < n; ++i) samples.emplace_back(static_cast<std::int64_t>(distribution(random)));
  return samples;
}

LatencyHistogram histogramOf(const std::vector<Time>& samples) {
  LatencyHistogram histogram;
  for (const Time sample : samples) histogram.add(sample);
  return histogram;
}

constexpr unsigned kPerMille[] = {1, 10, 500, 900, 990, 999, 1000};

TEST(LatencyHistogram, IsZeroWhenEmpty) {
  const LatencyHistogram histogram;
  EXPECT_TRUE(histogram.empty());
  EXPECT_EQ(histogram.minimum(), Time());
  EXPECT_EQ(histogram.maximum(), Time());
  EXPECT_EQ(histogram.mean(), Time());
  EXPECT_EQ(histogram.percentile(500), Time());
}

TEST(LatencyHistogram, NearestRankOfFewSamples) {
  const LatencyHistogram histogram = histogramOf({Time(40), Time(10), Time(30), Time(20)});
  EXPECT_EQ(histogram.percentile(250), Time(10));
  EXPECT_EQ(histogram.percentile(251), Time(20));
  EXPECT_EQ(histogram.percentile(500), Time(20));
  EXPECT_EQ(histogram.percentile(501), Time(30));
  EXPECT_EQ(histogram.percentile(999), Time(40));
  EXPECT_EQ(histogram.minimum(), Time(10));
  EXPECT_EQ(histogram.maximum(), Time(40));
  EXPECT_EQ(histogram.mean(), Time(25));
}

TEST(LatencyHistogram, MeanRoundsToTheNearestPicosecond) {
  EXPECT_EQ(histogramOf({Time(1), Time(2)}).mean(), Time(2));
  EXPECT_EQ(histogramOf({Time(1), Time(1), Time(2)}).mean(), Time(1));
}

TEST(LatencyHistogram, EqualsASortUpToTheLimit) {
  const std::vector<Time> samples = randomSamples(LatencyHistogram::kExactSamples, 14);
  const LatencyHistogram histogram = histogramOf(samples);
  EXPECT_TRUE(histogram.exact());
  for (const unsigned p : kPerMille) EXPECT_EQ(histogram.percentile(p), nearestRank(samples, p)) << p;
}

TEST(LatencyHistogram, StaysWithinTheStatedRoundingBeyondTheLimit) {
  const std::vector<Time> samples = randomSamples(LatencyHistogram::kExactSamples * 3, 14);
  const LatencyHistogram histogram = histogramOf(samples);
  EXPECT_FALSE(histogram.exact());
  for (const unsigned p : kPerMille) {
    const std::int64_t exact = nearestRank(samples, p).count();
    const std::int64_t got = histogram.percentile(p).count();
    EXPECT_GE(got, exact) << p;
    EXPECT_LE(got, exact + exact / 2048) << p;
  }
  EXPECT_EQ(histogram.minimum(), *std::min_element(samples.begin(), samples.end()));
  EXPECT_EQ(histogram.maximum(), *std::max_element(samples.begin(), samples.end()));
  EXPECT_EQ(histogram.percentile(1000), histogram.maximum());
}

TEST(LatencyHistogram, LosesExactnessWithTheSampleAfterTheLimit) {
  LatencyHistogram histogram;
  for (std::size_t i = 0; i < LatencyHistogram::kExactSamples; ++i) histogram.add(Time(5'000'001));
  EXPECT_TRUE(histogram.exact());
  histogram.add(Time(5'000'001));
  EXPECT_FALSE(histogram.exact());
  EXPECT_EQ(histogram.percentile(500), Time(5'000'001));  // clipped to the maximum
}

TEST(LatencyHistogram, SmallValuesStayExactBeyondTheLimit) {
  LatencyHistogram histogram;
  for (std::size_t i = 0; i < LatencyHistogram::kExactSamples + 1000; ++i) {
    histogram.add(Time(static_cast<std::int64_t>(i % 2000)));
  }
  EXPECT_FALSE(histogram.exact());
  EXPECT_NEAR(static_cast<double>(histogram.percentile(500).count()), 1000, 5);
  EXPECT_EQ(histogram.percentile(1), Time(1));
}

TEST(LatencyHistogram, TakesTheLargestTime) {
  LatencyHistogram histogram;
  for (std::size_t i = 0; i <= LatencyHistogram::kExactSamples; ++i) histogram.add(kForever);
  EXPECT_EQ(histogram.percentile(500), kForever);
  EXPECT_EQ(histogram.mean(), kForever);
}

TEST(LatencyHistogram, MergeEqualsAddingAll) {
  const std::vector<Time> few = randomSamples(1000, 10);
  const std::vector<Time> many = randomSamples(LatencyHistogram::kExactSamples + 1, 12);
  std::vector<Time> all = few;
  all.insert(all.end(), many.begin(), many.end());
  const LatencyHistogram reference = histogramOf(all);
  LatencyHistogram fewIntoMany = histogramOf(many);
  fewIntoMany.merge(histogramOf(few));
  LatencyHistogram manyIntoFew = histogramOf(few);
  manyIntoFew.merge(histogramOf(many));
  manyIntoFew.merge(LatencyHistogram());
  for (const LatencyHistogram* merged : {&fewIntoMany, &manyIntoFew}) {
    EXPECT_EQ(merged->count(), reference.count());
    EXPECT_EQ(merged->mean(), reference.mean());
    EXPECT_EQ(merged->minimum(), reference.minimum());
    EXPECT_EQ(merged->maximum(), reference.maximum());
    for (const unsigned p : kPerMille) EXPECT_EQ(merged->percentile(p), reference.percentile(p));
  }
}

}  // namespace
}  // namespace hca::report

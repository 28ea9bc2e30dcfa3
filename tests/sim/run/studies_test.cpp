// The shape of each curve: the host.
#include "tests/sim/run/study.h"

namespace hca::test {
namespace {

TEST_P(StudyTest, HasItsShape) {
  const Shape& shape = GetParam();
  const Json base = runApart(shape.config, shape.settings);
  ASSERT_TRUE(base.at("failures").empty()) << base.at("failures");
  Json other = base;
  if (!shape.changed.empty()) {
    Settings settings = shape.settings;
    settings.insert(settings.end(), shape.changed.begin(), shape.changed.end());
    other = runApart(shape.config, settings);
    ASSERT_TRUE(other.at("failures").empty()) << other.at("failures");
  }
  const double first = figure(base, shape.first);
  const double second = figure(other, shape.second);
  const double value = shape.compare == Compare::kRatio ? second / first : second - first;
  EXPECT_GE(value, shape.low) << shape.first << " " << first << ", " << shape.second << " " << second;
  EXPECT_LE(value, shape.high) << shape.first << " " << first << ", " << shape.second << " " << second;
}

constexpr const char* kBench = "pcie_bench.ini";
constexpr const char* kIommu = "studies/iommu.ini";
constexpr const char* kMemory = "studies/ddio_numa.ini";

// What pcie-bench measured, in nanoseconds and accesses a second. First: the host itself.
const Shape kPcieBench[] = {
    {"ReadFromMemory",
     kBench,
     {},
     {},
     "dma.read_64_warm.latency_ns.p50",
     "dma.read_64_cold.latency_ns.p50",
     Compare::kDifference,
     39,
     41},
    {"LargeRead",
     kBench,
     {},
     {},
     "dma.read_64_warm.latency_ns.p50",
     "dma.read_2048_warm.latency_ns.p50",
     Compare::kDifference,
     567,
     579},
    {"WriteReadBack",
     kBench,
     {},
     {},
     "dma.read_64_warm.latency_ns.p50",
     "dma.write_read_64.latency_ns.p50",
     Compare::kDifference,
     211,
     215},
    {"RateOfSmallReads",
     kBench,
     {},
     {"dma.read_rate_64.issue_interval=32.1ns"},
     "dma.read_rate_64.rate",
     "dma.read_rate_64.rate",
     Compare::kRatio,
     0.49,
     0.51},
    {"RandomReadsWithIommu",
     kBench,
     {},
     {"iommu.enabled=yes"},
     "dma.random_64_large.latency_ns.p50",
     "dma.random_64_large.latency_ns.p50",
     Compare::kDifference,
     227,
     280},
    {"SmallWindowWithIommu",
     kBench,
     {},
     {"iommu.enabled=yes"},
     "dma.read_64_warm.latency_ns.p50",
     "dma.read_64_warm.latency_ns.p50",
     Compare::kDifference,
     0,
     0},
    // 256 B / 280 B against 257 B / 305 B of the link, and 512 B / 672 B against 513 B / 693 B.
    {"SawToothOfWrites",
     kBench,
     {},
     {},
     "dma.write_256.throughput_gbps",
     "dma.write_257.throughput_gbps",
     Compare::kRatio,
     0.90,
     0.935},
    {"SawToothOfReads",
     kBench,
     {},
     {},
     "dma.read_512.throughput_gbps",
     "dma.read_513.throughput_gbps",
     Compare::kRatio,
     0.96,
     0.985},
};
TEST(PcieBenchTest, LatenciesAndRateAreAsPublished) {
  const Json result = runApart(kBench, {});
  int published = 0;
  for (const Json& dma : result.at("dma")) {
    if (!dma.contains("published_latency_ns")) continue;
    ++published;
    const double measured = dma.at("published_latency_ns").get<double>();
    EXPECT_NEAR(dma.at("latency_ns").at("p50").get<double>(), measured, 0.01 * measured) << dma.at("name");
  }
  EXPECT_EQ(published, 4);
  EXPECT_NEAR(figure(result, "dma.read_rate_64.rate"), 62.3e6, 0.01 * 62.3e6);
  // The byte model of the link, 57.9 Gb/s usable.
  EXPECT_NEAR(figure(result, "dma.write_256.throughput_gbps"), 57.9 * 256 / 280, 0.3);
  EXPECT_NEAR(figure(result, "dma.read_512.throughput_gbps"), 57.9 * 512 / 672, 0.3);
}
INSTANTIATE_TEST_SUITE_P(PcieBench, StudyTest, ::testing::ValuesIn(kPcieBench), nameOf);

const Shape kHost[] = {
    {"IotlbKnee",
     kIommu,
     {},
     {},
     "dma.reach_64.latency_ns.max",
     "dma.reach_65.latency_ns.min",
     Compare::kDifference,
     229.9,
     230.1},
    {"NoKneeWithoutIommu",
     kIommu,
     {"iommu.enabled=no"},
     {},
     "dma.reach_64.latency_ns.max",
     "dma.reach_65.latency_ns.max",
     Compare::kDifference,
     0,
     0},
    {"LargePagesMoveTheKnee",
     kIommu,
     {"iommu.page_size=2MiB"},
     {},
     "dma.reach_64.latency_ns.max",
     "dma.reach_65.latency_ns.max",
     Compare::kDifference,
     0,
     0},
    {"WalkersLimitTheRate",
     kIommu,
     {},
     {"iommu.walkers=2"},
     "dma.rate_65.rate",
     "dma.rate_65.rate",
     Compare::kRatio,
     0.49,
     0.51},
    {"WalkersDoNotMatterBelowTheKnee",
     kIommu,
     {},
     {"iommu.walkers=2"},
     "dma.rate_64.rate",
     "dma.rate_64.rate",
     Compare::kRatio,
     1,
     1},
    {"ColdReads",
     kMemory,
     {},
     {},
     "dma.warm.latency_ns.p50",
     "dma.cold.latency_ns.p50",
     Compare::kDifference,
     39.9,
     40.1},
    {"RemoteReads",
     kMemory,
     {},
     {},
     "dma.warm.latency_ns.p50",
     "dma.remote.latency_ns.p50",
     Compare::kDifference,
     99.9,
     100.1},
    {"DirectWritesFitIntoTheirWays",
     kMemory,
     {},
     {},
     "dma.within_ddio.latency_ns.max",
     "dma.beyond_ddio.latency_ns.min",
     Compare::kDifference,
     39.9,
     40.1},
    {"WithoutDirectWrites",
     kMemory,
     {},
     {"memory.ddio_ways=0"},
     "dma.within_ddio.latency_ns.max",
     "dma.within_ddio.latency_ns.min",
     Compare::kDifference,
     79.9,
     80.1},
};
INSTANTIATE_TEST_SUITE_P(Host, StudyTest, ::testing::ValuesIn(kHost), nameOf);

}  // namespace
}  // namespace hca::test

// The shape of each curve: a study of configs/, run twice with one key changed.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/report/result_json.h"
#include "tests/sim/run/shipped_config.h"

namespace hca::test {
namespace {

using Json = nlohmann::json;
using Settings = std::vector<std::string>;

// The result of a run in a process of its own: SystemC elaborates once a process.
Json runApart(const std::string& config, const Settings& settings) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = report::toJson(runShipped(config, settings));
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t written = write(ends[1], text.data() + at, text.size() - at);
      if (written <= 0) _exit(1);
      at += static_cast<std::size_t>(written);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 65536> buffer{};
  for (ssize_t got = 0; (got = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return Json::parse(text);
}

// "flows.NAME.message_rate", "dma.NAME.latency_ns.p50", "caches.qp_context.misses" (of host 0), "cqs.1.events"
double figure(const Json& result, const std::string& path) {
  const Json* at = &result;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string step = path.substr(begin, end - begin);
    begin = end + 1;
    if (!at->is_array()) {
      at = &at->at(step);
      continue;
    }
    if (step.find_first_not_of("0123456789") == std::string::npos) {
      at = &at->at(std::stoul(step));
      continue;
    }
    const auto found = std::find_if(at->begin(), at->end(), [&](const Json& one) { return one.at("name") == step; });
    if (found == at->end()) throw std::runtime_error("no " + step + " in " + path);
    at = &*found;
  }
  return at->get<double>();
}

enum class Compare { kRatio, kDifference };

struct Shape {
  const char* name;
  const char* config;
  Settings settings;  ///< of the first run
  Settings changed;   ///< of the second run, beside these; the same run if empty
  const char* first;
  const char* second;
  Compare compare;
  double low;  ///< of second / first, or second - first
  double high;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.name; }

class StudyTest : public ::testing::TestWithParam<Shape> {};

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

std::string nameOf(const ::testing::TestParamInfo<Shape>& info) { return info.param.name; }

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

constexpr const char* kThrash = "cache_thrash.ini";
constexpr const char* kTranslation = "studies/translation_cache.ini";
constexpr const char* kWorkRequests = "studies/work_request_cache.ini";
constexpr const char* kReads = "studies/outstanding_reads.ini";
constexpr const char* kUnits = "studies/processing_units.ini";
constexpr const char* kPrefetch = "studies/receive_prefetch.ini";
constexpr const char* kCoalescing = "studies/ack_coalescing.ini";
constexpr const char* kTwoPorts = "studies/two_ports.ini";
constexpr const char* kFirstPort = "flows.first.throughput_gbps";
constexpr const char* kSecondPort = "flows.second.throughput_gbps";
constexpr const char* kModeration = "studies/moderation.ini";
constexpr const char* kBatching = "studies/batching.ini";
constexpr const char* kInline = "studies/inline.ini";
constexpr const char* kWakeUp = "studies/wake_up.ini";
constexpr const char* kStreamRate = "flows.stream.message_rate";
constexpr const char* kRate = "flows.a.message_rate";

Settings queuePairs(int each) {
  Settings settings;
  for (const char* flow : {"a", "b", "c", "d"}) {
    settings.push_back(std::string("flow.") + flow + ".qps=" + std::to_string(each));
    settings.push_back(std::string("flow.") + flow + ".iters=" + std::to_string(10240 / each));
  }
  return settings;
}

const Shape kCaches[] = {
    {"SixtyFourContextsFit",
     kThrash,
     {},
     {"adapter.cache.qp_context_entries=0"},
     kRate,
     kRate,
     Compare::kRatio,
     0.98,
     1.02},
    {"OneMoreMisses",
     kThrash,
     {},
     {"flow.a.qps=17"},
     "caches.qp_context.misses",
     "caches.qp_context.misses",
     Compare::kRatio,
     10,
     1e6},
    {"FourTimesAsManyHalveTheRate",
     kThrash,
     queuePairs(64),
     {"adapter.cache.qp_context_entries=0"},
     kRate,
     kRate,
     Compare::kRatio,
     1.6,
     3},
    {"AndCostTheLink",
     kThrash,
     queuePairs(64),
     {"adapter.cache.qp_context_entries=0"},
     "pcie.2.bytes",
     "pcie.2.bytes",
     Compare::kRatio,
     0.1,
     0.6},
    {"MoreReadsAtATimeHelp",
     kThrash,
     queuePairs(64),
     {"adapter.cache.refills=32"},
     kRate,
     kRate,
     Compare::kRatio,
     1.1,
     3},
    {"TranslationKnee",
     kTranslation,
     {"adapter.cache.translation_entries=512"},
     {"adapter.cache.translation_entries=511"},
     "caches.translation.misses",
     "caches.translation.misses",
     Compare::kRatio,
     1.2,
     7},
    {"LargePagesNeedFewTranslations",
     kTranslation,
     {},
     {"driver.largest_page=2MiB"},
     "caches.translation.misses",
     "caches.translation.misses",
     Compare::kRatio,
     0,
     0.005},
    {"AndAreFaster",
     kTranslation,
     {},
     {"driver.largest_page=2MiB"},
     "flows.large.message_rate",
     "flows.large.message_rate",
     Compare::kRatio,
     1.02,
     2},
    {"WithRoomForAllPagesDoNotMatter",
     kTranslation,
     {"adapter.cache.translation_entries=0"},
     {"driver.largest_page=2MiB"},
     "flows.large.message_rate",
     "flows.large.message_rate",
     Compare::kRatio,
     1,
     1},
    {"WorkRequestsFit",
     kWorkRequests,
     {},
     {"adapter.cache.work_request_entries=1024"},
     "flows.lists.message_rate",
     "flows.lists.message_rate",
     Compare::kRatio,
     1,
     1},
    {"WorkRequestsThatMakeRoom",
     kWorkRequests,
     {},
     {"adapter.cache.work_request_entries=64"},
     "flows.lists.message_rate",
     "flows.lists.message_rate",
     Compare::kRatio,
     0.5,
     0.98},
};
INSTANTIATE_TEST_SUITE_P(Caches, StudyTest, ::testing::ValuesIn(kCaches), nameOf);

const Shape kProcessing[] = {
    {"TwiceTheReads",
     kReads,
     {},
     {"flow.reads.outs=2"},
     "flows.reads.message_rate",
     "flows.reads.message_rate",
     Compare::kRatio,
     1.9,
     2.1},
    {"EnoughReads",
     kReads,
     {"flow.reads.outs=64"},
     {"flow.reads.outs=128"},
     "flows.reads.message_rate",
     "flows.reads.message_rate",
     Compare::kRatio,
     0.99,
     1.05},
    {"TwiceTheUnits",
     kUnits,
     {},
     {"adapter.transport.processing_units=2"},
     "flows.small.message_rate",
     "flows.small.message_rate",
     Compare::kRatio,
     1.9,
     2.1},
    {"EnoughUnits",
     kUnits,
     {"adapter.transport.processing_units=8"},
     {"adapter.transport.processing_units=16"},
     "flows.small.message_rate",
     "flows.small.message_rate",
     Compare::kRatio,
     0.99,
     1.05},
    {"OneAddressOrEight",
     "studies/atomics.ini",
     {},
     {},
     "flows.one.message_rate",
     "flows.eight.message_rate",
     Compare::kRatio,
     5,
     9},
    {"OneAddressTakesTheRoundTrip",
     "studies/atomics.ini",
     {},
     {"pcie.propagation=105ns"},
     "flows.one.latency_ns.p50",
     "flows.one.latency_ns.p50",
     Compare::kRatio,
     1.2,
     1.5},
    {"ReceivesFetchedAhead",
     kPrefetch,
     {},
     {"adapter.transport.receive_prefetch=16"},
     "flows.sends.message_rate",
     "flows.sends.message_rate",
     Compare::kRatio,
     3,
     8},
    {"EnoughFetchedAhead",
     kPrefetch,
     {"adapter.transport.receive_prefetch=64"},
     {"adapter.transport.receive_prefetch=128"},
     "flows.sends.message_rate",
     "flows.sends.message_rate",
     Compare::kRatio,
     0.99,
     1.02},
    {"FewerAcknowledgements",
     kCoalescing,
     {},
     {"adapter.transport.ack_coalescing=8"},
     "caches.qp_context.hits",
     "caches.qp_context.hits",
     Compare::kRatio,
     0.1,
     0.6},
    {"TheSameCompletions",
     kCoalescing,
     {},
     {"adapter.transport.ack_coalescing=8"},
     "flows.stream.iters",
     "flows.stream.iters",
     Compare::kRatio,
     1,
     1},
    {"NoSlowerStream",
     kCoalescing,
     {},
     {"adapter.transport.ack_coalescing=8"},
     kStreamRate,
     kStreamRate,
     Compare::kRatio,
     0.95,
     1.1},
    {"ALateSingleCompletion",
     kCoalescing,
     {},
     {"adapter.transport.ack_coalescing=8"},
     "flows.single.latency_ns.p50",
     "flows.single.latency_ns.p50",
     Compare::kDifference,
     990,
     1010},
};
INSTANTIATE_TEST_SUITE_P(Processing, StudyTest, ::testing::ValuesIn(kProcessing), nameOf);

const Shape kPorts[] = {
    {"OnePortOfTwo", kTwoPorts, {"flow.second.after=first"}, {}, kFirstPort, kSecondPort, Compare::kRatio, 0.99, 1.01},
    {"TwiceAsMuchWithRoom",
     kTwoPorts,
     {"pcie.generation=4", "flow.second.after=first"},
     {"flow.second.after="},
     kFirstPort,
     kSecondPort,
     Compare::kRatio,
     0.99,
     1.01},
    {"TheKneeOfSixteenLanes",
     kTwoPorts,
     {"flow.second.after=first"},
     {"flow.second.after="},
     kFirstPort,
     kFirstPort,
     Compare::kRatio,
     0.75,
     0.85},
    {"LongerCompletionsMoveIt", kTwoPorts, {}, {"pcie.rcb=128B"}, kFirstPort, kFirstPort, Compare::kRatio, 1.1, 1.2},
    {"TheKneeOfTheReceiver",
     kTwoPorts,
     {"host.0.pcie.generation=4", "flow.second.after=first"},
     {"flow.second.after="},
     kFirstPort,
     kFirstPort,
     Compare::kRatio,
     0.95,
     0.98},
    {"EightLanesAreFullWithOne",
     kTwoPorts,
     {"pcie.width=x8", "flow.second.after=first"},
     {"flow.second.after="},
     kFirstPort,
     kFirstPort,
     Compare::kRatio,
     0.49,
     0.51},
};
INSTANTIATE_TEST_SUITE_P(Ports, StudyTest, ::testing::ValuesIn(kPorts), nameOf);

const Shape kSoftware[] = {
    {"FewerEvents",
     kModeration,
     {},
     {"flow.events.cq_count=4", "flow.events.cq_period=50"},
     "cqs.1.events",
     "cqs.1.events",
     Compare::kRatio,
     0.4,
     0.6},
    {"TooLongAPeriod",
     kModeration,
     {},
     {"flow.events.cq_count=32", "flow.events.cq_period=200"},
     "flows.events.latency_ns.p50",
     "flows.events.latency_ns.p50",
     Compare::kRatio,
     3,
     6},
    {"ListsOfRequests",
     kBatching,
     {},
     {"flow.writes.post_list=16"},
     "flows.writes.message_rate",
     "flows.writes.message_rate",
     Compare::kRatio,
     1.2,
     2},
    {"FewCompletions",
     kBatching,
     {},
     {"flow.writes.cq_mod=16"},
     "flows.writes.message_rate",
     "flows.writes.message_rate",
     Compare::kRatio,
     1.2,
     2},
    {"NotInline",
     kInline,
     {},
     {"flow.small.inline_size=0B"},
     "flows.small.latency_ns.p50",
     "flows.small.latency_ns.p50",
     Compare::kDifference,
     450,
     650},
    {"SleepingCosts",
     kWakeUp,
     {"flow.ping.events=off"},
     {"flow.ping.events=safe"},
     "flows.ping.latency_ns.p50",
     "flows.ping.latency_ns.p50",
     Compare::kDifference,
     5000,
     7000},
    {"AnInterruptElsewhere",
     kWakeUp,
     {},
     {"flow.ping.comp_vector=0"},
     "flows.ping.latency_ns.p50",
     "flows.ping.latency_ns.p50",
     Compare::kDifference,
     1999,
     2001},
};
INSTANTIATE_TEST_SUITE_P(Software, StudyTest, ::testing::ValuesIn(kSoftware), nameOf);

constexpr const char* kCompression = "studies/cqe_compression.ini";
constexpr const char* kEntryRate = "flows.a.message_rate";
constexpr const char* kEntryBytes = "pcie.2.bytes";  // host 1, upstream

Settings entries(const std::vector<std::string>& keys) {
  Settings settings;
  for (const char* flow : {"a", "b", "c", "d"}) {
    for (const std::string& key : keys) settings.push_back(std::string("flow.") + flow + '.' + key);
  }
  return settings;
}

// 48,192 completions: 88 bytes each on the link alone, 2 x 88 / 8 in sessions of eight, 152 padded.
constexpr double kCompletions = 48192;
Settings shortEntries() {
  Settings settings = entries({"cqe_size=32B"});
  settings.push_back("adapter.completion.cqe_32=yes");
  return settings;
}
const Shape kEntries[] = {
    {"ShortEntriesSaveTheirBytes",
     kCompression,
     {},
     shortEntries(),
     kEntryBytes,
     kEntryBytes,
     Compare::kDifference,
     -32 * kCompletions - 480,  // a few of the reads of receive WQEs, 24 bytes each, fall otherwise
     -32 * kCompletions + 480},
    {"AndTheRateOfTheLink", kCompression, {}, shortEntries(), kEntryRate, kEntryRate, Compare::kRatio, 1.53, 1.61},
    {"SessionsOfEightSaveThreeQuarters",
     kCompression,
     {},
     entries({"cqe_compression=basic"}),
     kEntryBytes,
     kEntryBytes,
     Compare::kDifference,
     -66 * kCompletions,
     -66 * kCompletions},
    {"AndTheLinkCarriesMoreOfThem",
     kCompression,
     {},
     entries({"cqe_compression=basic"}),
     kEntryRate,
     kEntryRate,
     Compare::kRatio,
     3.45,
     3.75},
    {"EnhancedSessionsOfEightCostTheSame", kCompression, entries({"cqe_compression=basic"}),
     entries({"cqe_compression=enhanced"}), kEntryBytes, kEntryBytes, Compare::kDifference, 0, 0},
    {"PaddingCostsItsBytes", kCompression, entries({"cqe_size=128B"}), entries({"cqe_pad=yes"}), kEntryBytes,
     kEntryBytes, Compare::kDifference, 64 * kCompletions, 64 * kCompletions},
    {"AndTheRate", kCompression, entries({"cqe_size=128B"}), entries({"cqe_pad=yes"}), kEntryRate, kEntryRate,
     Compare::kRatio, 0.57, 0.61},
    {"UnpaddedEntriesCostWhatNarrowOnesDo",
     kCompression,
     {},
     entries({"cqe_size=128B"}),
     kEntryRate,
     kEntryRate,
     Compare::kRatio,
     0.999,
     1.001},
};
INSTANTIATE_TEST_SUITE_P(Entries, StudyTest, ::testing::ValuesIn(kEntries), nameOf);

}  // namespace
}  // namespace hca::test

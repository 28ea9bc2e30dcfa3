// Window flows against the real adapters.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sim/workload/flow_run.h"

namespace hca::test {
namespace {

using sim::EventOrder;
using sim::FlowConfig;
using sim::FlowVerb;

FlowConfig window(FlowVerb verb, std::int64_t size, std::uint32_t qps = 1) {
  FlowConfig flow;
  flow.kind = sim::FlowKind::kBandwidth;
  flow.verb = verb;
  flow.size = Bytes(size);
  flow.qps = qps;
  flow.iters = 300;
  flow.tx_depth = 32;
  flow.rx_depth = 64;
  return flow;
}

void expectCleanBandwidth(FlowRun& run, std::size_t index, std::uint64_t iterations) {
  EXPECT_EQ(run.flow(index).problem(), "");
  const report::FlowResult result = run.workload().results()[index];
  EXPECT_EQ(result.iterations, iterations);
  EXPECT_EQ(result.bytes, iterations * static_cast<std::uint64_t>(run.flow(index).config().size.count()));
  EXPECT_EQ(result.errors, 0U);
  EXPECT_EQ(run.flow(index).corrupted(), 0U);
}

TEST(BandwidthFlow, EveryVerbDeliversItsContent) {
  FlowRun run;
  std::string before;
  std::size_t count = 0;
  for (const FlowVerb verb : {FlowVerb::kWrite, FlowVerb::kWriteImmediate, FlowVerb::kSend, FlowVerb::kSendImmediate}) {
    for (const std::int64_t size : {0, 4, 64, 5000}) {
      FlowConfig flow = window(verb, size);
      flow.after = before;
      before = "flow" + std::to_string(count++);
      run.add(before, flow);
    }
  }
  ASSERT_TRUE(run.run()) << run.problem();
  for (std::size_t index = 0; index < count; ++index) {
    SCOPED_TRACE(index);
    expectCleanBandwidth(run, index, 300);
  }
}

TEST(BandwidthFlow, MessagesOfManySizesKeepTheirContent) {
  FlowRun run;
  std::string before;
  std::size_t count = 0;
  for (const FlowVerb verb : {FlowVerb::kWrite, FlowVerb::kSend, FlowVerb::kWriteImmediate, FlowVerb::kRead}) {
    FlowConfig flow = window(verb, 9000, 2);
    flow.size_distribution = sim::SizeDistribution::kUniform;
    flow.size_min = Bytes(1);
    flow.inline_size = Bytes(60);
    flow.after = before;
    before = "flow" + std::to_string(count++);
    run.add(before, flow);
  }
  ASSERT_TRUE(run.run()) << run.problem();
  for (std::size_t index = 0; index < count; ++index) {
    EXPECT_EQ(run.flow(index).problem(), "");
    const report::FlowResult result = run.workload().results()[index];
    EXPECT_EQ(result.iterations, 600U);
    EXPECT_EQ(run.flow(index).corrupted(), 0U) << index;
    EXPECT_NEAR(static_cast<double>(result.bytes) / 600, 4500, 400) << "mean of the sizes";
  }
}

/// 64-byte writes that arrive at `rate`.
report::FlowResult openLoop(std::uint32_t rate, sim::ArrivalKind kind, std::uint32_t burst = 1) {
  FlowRun run;
  FlowConfig flow = window(FlowVerb::kWrite, 64);
  flow.iters = 3000;
  flow.arrival = kind;
  flow.rate = rate;
  flow.burst_size = burst;
  run.add("flow", flow);
  EXPECT_TRUE(run.run()) << run.problem();
  EXPECT_EQ(run.flow(0).problem(), "");
  EXPECT_EQ(run.flow(0).corrupted(), 0U);
  return run.workload().results()[0];
}

TEST(OpenLoop, KeepsTheRateBelowSaturation) {
  const report::FlowResult result = openLoop(1'000'000, sim::ArrivalKind::kFixed);
  EXPECT_EQ(result.iterations, 3000U);
  EXPECT_NEAR(result.messageRate, 1'000'000, 2000);
  EXPECT_LT(result.latency.p99, microseconds(3)) << "nobody waits";
}

// What arrives beyond what can be carried waits, ever longer: the last of 3000 waits for all before it.
TEST(OpenLoop, BeyondSaturationLatencyGrowsWithTheBacklog) {
  constexpr std::uint32_t kRate = 50'000'000;
  const report::FlowResult result = openLoop(kRate, sim::ArrivalKind::kFixed);
  ASSERT_LT(result.messageRate, 0.8 * kRate) << "not saturated: the test would prove nothing";
  const double backlog = 3000 / result.messageRate - 3000.0 / kRate;  // seconds
  EXPECT_NEAR(static_cast<double>(result.latency.maximum.count()) / 1e12, backlog, 0.1 * backlog);
  EXPECT_NEAR(static_cast<double>(result.latency.p50.count()) / 1e12, backlog / 2, 0.1 * backlog);
}

// The thread that posts looks for completions when all of a burst is posted.
TEST(OpenLoop, LatencyCountsFromTheTimeAtWhichABurstWasDue) {
  const report::FlowResult result = openLoop(1'000'000, sim::ArrivalKind::kBurst, 30);
  EXPECT_NEAR(result.messageRate, 1'000'000, 15'000);
  EXPECT_GT(result.latency.minimum, nanoseconds(75) * 29) << "a call takes that long at least";
}

TEST(BandwidthFlow, ResizesItsQueuesUnderLoad) {
  FlowRun run;
  FlowConfig flow = window(FlowVerb::kSendImmediate, 64, 4);
  flow.shared_cq = false;
  flow.resize_to = 2000;
  flow.resize_after = 100;
  run.add("polls", flow);
  flow.after = "polls";
  flow.events = EventOrder::kSafe;
  run.add("sleeps", flow);
  ASSERT_TRUE(run.run()) << run.problem();
  expectCleanBandwidth(run, 0, 1200);
  expectCleanBandwidth(run, 1, 1200);
  std::uint64_t resizes = 0;
  for (std::size_t host = 0; host < 2; ++host) {
    for (const auto& queue : run.system().host(host).adapter().hca().completion().summaries()) {
      resizes += queue.counters.resizes;
    }
  }
  EXPECT_EQ(resizes, 16U);
}

TEST(BandwidthFlow, ResizeThatIsRefusedEndsTheFlow) {
  FlowRun run;
  FlowConfig flow = window(FlowVerb::kWrite, 64);
  flow.resize_to = 1 << 24;
  run.add("flow", flow);
  ASSERT_TRUE(run.run()) << run.problem();
  EXPECT_FALSE(run.flow(0).problem().empty());
}

TEST(BandwidthFlow, ManyQueuePairsShareAQueueOrHaveTheirOwn) {
  FlowRun run;
  FlowConfig shared = window(FlowVerb::kSend, 64, 24);
  run.add("shared", shared);
  FlowConfig own = shared;
  own.shared_cq = false;
  own.after = "shared";
  run.add("own", own);
  ASSERT_TRUE(run.run()) << run.problem();
  expectCleanBandwidth(run, 0, 24 * 300);
  expectCleanBandwidth(run, 1, 24 * 300);
}

TEST(BandwidthFlow, UnsignaledRequestsAreRetiredByALaterOne) {
  FlowRun run;
  FlowConfig flow = window(FlowVerb::kWrite, 64);
  flow.cq_mod = 10;
  run.add("every tenth", flow);
  FlowConfig list = window(FlowVerb::kSend, 64);
  list.cq_mod = 32;
  list.post_list = 7;
  list.after = "every tenth";
  run.add("lists", list);
  ASSERT_TRUE(run.run()) << run.problem();
  expectCleanBandwidth(run, 0, 300);
  expectCleanBandwidth(run, 1, 300);
  EXPECT_EQ(run.workload().results()[0].latency.samples, 30U);
  EXPECT_EQ(run.workload().results()[1].latency.samples, 10U);  // nine multiples of 32, and the last
}

TEST(BandwidthFlow, EventsWork) {
  FlowRun run;
  FlowConfig flow = window(FlowVerb::kSend, 64, 4);
  flow.events = EventOrder::kSafe;
  flow.shared_cq = false;
  flow.server_core = 2;
  run.add("events", flow);
  ASSERT_TRUE(run.run()) << run.problem();
  expectCleanBandwidth(run, 0, 4 * 300);
}

TEST(BandwidthFlow, DurationEndsAtASignaledRequest) {
  FlowRun run;
  FlowConfig flow = window(FlowVerb::kWrite, 64);
  flow.iters = 0;
  flow.duration = microseconds(50);
  flow.cq_mod = 8;
  run.add("timed", flow);
  ASSERT_TRUE(run.run()) << run.problem();
  const report::FlowResult result = run.workload().results()[0];
  EXPECT_GE(result.measured, microseconds(50));
  EXPECT_LT(result.measured, microseconds(70));
  EXPECT_EQ(result.iterations % 8, 0U);
  EXPECT_EQ(run.flow(0).corrupted(), 0U);
}

TEST(BandwidthFlow, FlowsRunAtTheSameTime) {
  FlowRun run;
  for (std::uint32_t i = 0; i < 4; ++i) {
    FlowConfig flow = window(i % 2 == 0 ? FlowVerb::kWrite : FlowVerb::kSend, 256);
    flow.client = i / 2;
    flow.server = 1 - i / 2;
    flow.client_core = i;
    flow.server_core = i;
    run.add("flow" + std::to_string(i), flow);
  }
  ASSERT_TRUE(run.run()) << run.problem();
  for (std::size_t index = 0; index < 4; ++index) expectCleanBandwidth(run, index, 300);
}

// One elaboration a process, so each mode is measured in a child.
Time measureInChild(config::PayloadMode mode) {
  int ends[2];
  if (pipe(ends) != 0) return Time();
  const pid_t child = fork();
  if (child == 0) {
    FlowRun run([mode](config::Config& config) { config.run.payload = mode; });
    run.add("flow", window(FlowVerb::kWrite, 1024));
    const std::int64_t measured = run.run() ? run.workload().results()[0].measured.count() : 0;
    const bool sent = write(ends[1], &measured, sizeof measured) == sizeof measured;
    _exit(sent ? 0 : 1);
  }
  close(ends[1]);
  std::int64_t measured = 0;
  const bool received = read(ends[0], &measured, sizeof measured) == sizeof measured;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return received ? Time(measured) : Time();
}

TEST(BandwidthFlow, TimingOnlyTakesAsLongAsMovedPayload) {
  const Time moved = measureInChild(config::PayloadMode::kMoved);
  const Time timing = measureInChild(config::PayloadMode::kTiming);
  EXPECT_GT(moved, microseconds(10));
  EXPECT_EQ(moved, timing);
}

}  // namespace
}  // namespace hca::test

// Ping-pong flows against the real adapters.
#include <gtest/gtest.h>

#include "tests/sim/workload/flow_run.h"

namespace hca::test {
namespace {

using sim::EventOrder;
using sim::FlowConfig;
using sim::FlowVerb;

FlowConfig pingPong(FlowVerb verb, std::int64_t size) {
  FlowConfig flow;
  flow.kind = sim::FlowKind::kLatency;
  flow.verb = verb;
  flow.size = Bytes(size);
  flow.iters = 50;
  flow.warmup = 5;
  flow.tx_depth = 16;
  flow.rx_depth = 16;
  flow.server_core = 1;
  return flow;
}

void expectCleanLatency(FlowRun& run, std::size_t index, std::uint64_t iterations) {
  EXPECT_EQ(run.flow(index).problem(), "");
  const report::FlowResult result = run.workload().results()[index];
  EXPECT_EQ(result.iterations, iterations);
  EXPECT_EQ(result.errors, 0U);
  EXPECT_EQ(result.latency.samples, iterations);
  EXPECT_GT(result.latency.minimum, nanoseconds(300));
  EXPECT_LT(result.latency.maximum, microseconds(100));
  EXPECT_EQ(run.flow(index).corrupted(), 0U);
}

TEST(LatencyFlow, EveryVerbAndSizeDeliversItsContent) {
  FlowRun run;
  std::string before;
  std::size_t count = 0;
  for (const FlowVerb verb : {FlowVerb::kWrite, FlowVerb::kWriteImmediate, FlowVerb::kSend, FlowVerb::kSendImmediate}) {
    for (const std::int64_t size : {1, 2, 64, 65, 4096, 4097, 20'000}) {
      FlowConfig flow = pingPong(verb, size);
      flow.after = before;
      before = "flow" + std::to_string(count++);
      run.add(before, flow);
    }
  }
  ASSERT_TRUE(run.run()) << run.problem();
  for (std::size_t index = 0; index < count; ++index) {
    SCOPED_TRACE(index);
    expectCleanLatency(run, index, 50);
  }
}

TEST(LatencyFlow, EventsInBothOrdersReachTheEnd) {
  // The rule that the drivers of real adapters rely on: it makes up for the unsafe order.
  FlowRun run(
      [](config::Config& config) { config.allHosts.adapter.completion.armRule = adapter::ArmRule::kCiCompareOnce; });
  FlowConfig safe = pingPong(FlowVerb::kSend, 64);
  safe.events = EventOrder::kSafe;
  run.add("safe", safe);
  FlowConfig unsafe = safe;
  unsafe.events = EventOrder::kUnsafe;
  unsafe.after = "safe";
  run.add("unsafe", unsafe);
  ASSERT_TRUE(run.run()) << run.problem();
  expectCleanLatency(run, 0, 50);
  expectCleanLatency(run, 1, 50);
  // A sleep and its wake-up a message cost more than polling.
  EXPECT_GT(run.workload().results()[0].latency.p50, microseconds(4));
}

TEST(LatencyFlow, InlineIsFaster) {
  FlowRun run;
  run.add("plain", pingPong(FlowVerb::kWrite, 32));
  FlowConfig inlined = pingPong(FlowVerb::kWrite, 32);
  inlined.inline_size = Bytes(32);
  inlined.after = "plain";
  run.add("inline", inlined);
  ASSERT_TRUE(run.run()) << run.problem();
  const auto results = run.workload().results();
  EXPECT_LT(results[1].latency.p50, results[0].latency.p50);
}

TEST(LatencyFlow, DurationEndsTheMeasurement) {
  FlowRun run;
  FlowConfig flow = pingPong(FlowVerb::kSend, 8);
  flow.iters = 0;
  flow.duration = microseconds(200);
  run.add("timed", flow);
  ASSERT_TRUE(run.run()) << run.problem();
  const report::FlowResult result = run.workload().results()[0];
  EXPECT_GE(result.measured, microseconds(200));
  EXPECT_LT(result.measured, microseconds(210));
  EXPECT_GT(result.iterations, 20U);
}

}  // namespace
}  // namespace hca::test

#include "sim/workload/flow_rules.h"

#include <gtest/gtest.h>

namespace hca::sim {
namespace {

FlowConfig flow(FlowKind kind) {
  FlowConfig config;
  config.kind = kind;
  config.verb = FlowVerb::kSend;
  config.iters = 10;
  return config;
}

std::string firstKey(const FlowConfig& config) {
  const auto problems = flowProblems(config);
  return problems.empty() ? "" : problems.front().key;
}

TEST(FlowRules, PlainFlowsHaveNone) {
  EXPECT_EQ(firstKey(flow(FlowKind::kLatency)), "");
  EXPECT_EQ(firstKey(flow(FlowKind::kBandwidth)), "");
  FlowConfig race = flow(FlowKind::kArmRace);
  race.events = EventOrder::kUnsafe;
  EXPECT_EQ(firstKey(race), "");
}

TEST(FlowRules, ManyQueuePairsAreForBandwidth) {
  FlowConfig config = flow(FlowKind::kBandwidth);
  config.qps = 2;
  EXPECT_EQ(firstKey(config), "");
  config.kind = FlowKind::kLatency;
  EXPECT_EQ(firstKey(config), "qps");
}

TEST(FlowRules, ResizesAreForBandwidth) {
  FlowConfig config = flow(FlowKind::kBandwidth);
  config.resize_to = 100;
  EXPECT_EQ(firstKey(config), "");
  config.kind = FlowKind::kLatency;
  EXPECT_EQ(firstKey(config), "resize_to");
}

TEST(FlowRules, LatencyOfAnEmptyWriteHasNothingToWaitFor) {
  FlowConfig config = flow(FlowKind::kLatency);
  config.size = Bytes(0);
  EXPECT_EQ(firstKey(config), "");
  config.verb = FlowVerb::kWrite;
  EXPECT_EQ(firstKey(config), "size");
}

TEST(FlowRules, RaceNeedsCompletionsEventsAndACount) {
  FlowConfig config = flow(FlowKind::kArmRace);
  EXPECT_EQ(firstKey(config), "events");
  config.events = EventOrder::kSafe;
  config.verb = FlowVerb::kWrite;
  EXPECT_EQ(firstKey(config), "verb");
  config.verb = FlowVerb::kWriteImmediate;
  config.iters = 0;
  EXPECT_EQ(firstKey(config), "iters");
}

}  // namespace
}  // namespace hca::sim

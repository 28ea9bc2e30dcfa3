// Flows over extended reliable connections.
#include <gtest/gtest.h>

#include "tests/sim/workload/flow_run.h"

namespace hca::test {
namespace {

using sim::FlowConfig;
using sim::FlowKind;
using sim::FlowVerb;

FlowConfig xrc(FlowKind kind, FlowVerb verb) {
  FlowConfig flow;
  flow.kind = kind;
  flow.verb = verb;
  flow.transport = sim::FlowTransport::kXrc;
  flow.size = Bytes(sim::isAtomic(verb) ? 8 : 5000);
  flow.iters = 200;
  flow.tx_depth = 16;
  flow.rx_depth = 32;
  return flow;
}

void expectCleanXrc(FlowRun& run) {
  ASSERT_TRUE(run.run()) << run.problem();
  for (const auto& flow : run.workload().flows()) {
    SCOPED_TRACE(flow->name());
    EXPECT_EQ(flow->problem(), "");
    EXPECT_EQ(flow->result().iterations, std::uint64_t{flow->config().iters} * flow->config().qps);
    EXPECT_EQ(flow->corrupted(), 0U);
  }
}

TEST(XrcFlow, EveryKindAndVerb) {
  FlowRun run;
  for (const FlowKind kind : {FlowKind::kLatency, FlowKind::kBandwidth}) {
    for (const FlowVerb verb : {FlowVerb::kWrite, FlowVerb::kWriteImmediate, FlowVerb::kSend, FlowVerb::kSendImmediate,
                                FlowVerb::kRead, FlowVerb::kFetchAdd, FlowVerb::kCompareSwap}) {
      run.append(xrc(kind, verb));
    }
  }
  FlowConfig race = xrc(FlowKind::kArmRace, FlowVerb::kSend);
  race.events = sim::EventOrder::kSafe;
  race.iters = 20;
  run.append(race);
  expectCleanXrc(run);
}

TEST(XrcFlow, AllQueuePairsReachEverySharedQueue) {
  FlowRun run;
  FlowConfig flow = xrc(FlowKind::kBandwidth, FlowVerb::kSend);
  flow.qps = 3;
  flow.xrc_srqs = 5;
  flow.inline_size = Bytes(200);
  flow.size_distribution = sim::SizeDistribution::kUniform;
  flow.size_min = Bytes(8);
  run.append(flow);
  flow.verb_mix = "send:3, read:2, write:2, fetch_add, send_with_imm, write_with_imm";
  flow.events = sim::EventOrder::kSafe;
  run.append(flow);
  flow.xrc_srqs = 1;
  flow.shared_cq = false;
  run.append(flow);
  expectCleanXrc(run);
  // A queue pair at either end of each connection, and its peer; the driver's own queue and those of the flows.
  EXPECT_EQ(run.system().host(1).adapter().driver().objects(driver::ObjectKind::kXrcSrq), 5U + 5U + 1U + 1U);
  EXPECT_EQ(run.system().host(1).adapter().driver().objects(driver::ObjectKind::kQp), 3U * 3 * 2);
}

TEST(XrcFlow, MessagesOverALossyLinkAllArrive) {
  FlowRun run([](config::Config& config) {
    config.allHosts.faults.loss = 0.01;
    config.allHosts.faults.duplication = 0.01;
  });
  FlowConfig flow = xrc(FlowKind::kBandwidth, FlowVerb::kSend);
  flow.qps = 2;
  flow.xrc_srqs = 3;
  flow.ack_timeout = 8;
  run.append(flow);
  expectCleanXrc(run);
}

}  // namespace
}  // namespace hca::test

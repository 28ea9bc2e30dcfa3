// Waiting by polling and by event in the same flow.
#include <gtest/gtest.h>

#include <map>

#include "tests/sim/workload/flow_run.h"

namespace hca::test {
namespace {

using sim::EventOrder;
using sim::FlowConfig;

struct Waits {
  report::LatencySummary latency;
  std::uint64_t arms = 0;
  std::uint64_t events = 0;
};

/// Ping-pongs one after the other, each with how its threads waited.
class EventOrders : public testing::Test {
 protected:
  void add(const std::string& name, EventOrder order, Time spin = microseconds(10), std::uint32_t turn = 1) {
    FlowConfig flow;
    flow.verb = sim::FlowVerb::kSend;
    flow.iters = 200;
    flow.events = order;
    flow.spin_time = spin;
    flow.turn = turn;
    flow.after = last_;
    last_ = name;
    run_.add(name, flow);
  }
  /// By name.
  std::map<std::string, Waits> run() {
    EXPECT_TRUE(run_.run()) << run_.problem();
    std::map<std::string, Waits> waits;
    for (const auto& flow : run_.workload().flows()) {
      EXPECT_EQ(flow->problem(), "");
      EXPECT_EQ(flow->corrupted(), 0U);
      Waits& own = waits[flow->name()];
      own.latency = flow->result().latency;
      for (const sim::FlowEndpoint* side : {&flow->clientSide(), &flow->serverSide()}) addQueues(*side, own);
    }
    return waits;
  }

 private:
  // Flows create their queues one after the other: the n-th of a host is that of the n-th flow.
  void addQueues(const sim::FlowEndpoint& side, Waits& waits) {
    const auto queues = run_.system().host(side.client().host().value()).adapter().hca().completion().summaries();
    const std::size_t flow = taken_[side.client().host().value()]++;
    ASSERT_LT(flow, queues.size());
    waits.arms += queues[flow].counters.arms;
    waits.events += queues[flow].counters.events;
  }

  FlowRun run_;
  std::string last_;
  std::map<std::uint32_t, std::size_t> taken_;
};

// An answer comes after about 2 us.
TEST_F(EventOrders, AdaptivePollsAsLongAsItIsTold) {
  add("polls", EventOrder::kOff);
  add("sleeps", EventOrder::kSafe);
  add("patient", EventOrder::kAdaptive, microseconds(30));
  add("hasty", EventOrder::kAdaptive, nanoseconds(200));
  auto waits = run();
  EXPECT_EQ(waits["polls"].arms, 0U);
  EXPECT_EQ(waits["patient"].arms, 0U);
  EXPECT_EQ(waits["patient"].latency.p50, waits["polls"].latency.p50);
  EXPECT_GE(waits["hasty"].events, 2 * 200U);
  EXPECT_GT(waits["hasty"].latency.p50, waits["polls"].latency.p50 * 2);
  EXPECT_LE(waits["hasty"].latency.p50, waits["sleeps"].latency.p50 + nanoseconds(400));
}

TEST_F(EventOrders, TurnsDoBothAlike) {
  add("polls", EventOrder::kOff);
  add("sleeps", EventOrder::kSafe);
  add("turns", EventOrder::kTurns);
  add("long turns", EventOrder::kTurns, microseconds(10), 20);
  auto waits = run();
  ASSERT_GT(waits["sleeps"].arms, 400U);
  for (const char* name : {"turns", "long turns"}) {
    SCOPED_TRACE(name);
    const double share = static_cast<double>(waits[name].arms) / static_cast<double>(waits["sleeps"].arms);
    EXPECT_NEAR(share, 0.5, 0.15);
    EXPECT_GT(waits[name].latency.p50, waits["polls"].latency.p50);
    EXPECT_LT(waits[name].latency.minimum, waits["sleeps"].latency.minimum);
  }
}

TEST(EventOrder, AllWorkWithManyQueuesAndSharedReceives) {
  FlowRun run;
  std::string before;
  for (const EventOrder order : {EventOrder::kAdaptive, EventOrder::kTurns}) {
    for (const bool shared : {true, false}) {
      FlowConfig flow;
      flow.kind = sim::FlowKind::kBandwidth;
      flow.verb = sim::FlowVerb::kSendImmediate;
      flow.size = Bytes(64);
      flow.qps = 4;
      flow.iters = 300;
      flow.tx_depth = 16;
      flow.shared_cq = shared;
      flow.events = order;
      flow.turn = order == EventOrder::kTurns ? 3 : 1;
      flow.spin_time = nanoseconds(500);
      flow.after = before;
      before = "flow" + std::to_string(run.workload().flows().size());
      run.add(before, flow);
    }
  }
  ASSERT_TRUE(run.run()) << run.problem();
  for (const auto& flow : run.workload().flows()) {
    SCOPED_TRACE(flow->name());
    EXPECT_EQ(flow->problem(), "");
    EXPECT_EQ(flow->result().iterations, 1200U);
    EXPECT_EQ(flow->corrupted(), 0U);
  }
}

}  // namespace
}  // namespace hca::test

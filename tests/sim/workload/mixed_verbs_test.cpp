// Flows whose messages are of several verbs.
#include <gtest/gtest.h>

#include "tests/sim/workload/flow_run.h"

namespace hca::test {
namespace {

using sim::FlowConfig;

FlowConfig mix(const std::string& verbs) {
  FlowConfig flow;
  flow.kind = sim::FlowKind::kBandwidth;
  flow.verb_mix = verbs;
  flow.size = Bytes(3000);
  flow.qps = 2;
  flow.iters = 500;
  flow.tx_depth = 32;
  flow.rx_depth = 16;
  return flow;
}

void expectClean(const FlowRun& run, sim::Flow& flow) {
  const report::FlowResult result = flow.result();
  EXPECT_EQ(flow.problem(), "") << run.problem();
  EXPECT_EQ(result.iterations, 1000U);
  EXPECT_EQ(result.errors, 0U);
  EXPECT_EQ(flow.corrupted(), 0U);
}

/// Entries in the completion queues of a host.
std::uint64_t cqesWritten(FlowRun& run, std::size_t host) {
  std::uint64_t sum = 0;
  for (const auto& queue : run.system().host(host).adapter().hca().completion().summaries()) {
    sum += queue.counters.cqes;
  }
  return sum;
}

TEST(MixedVerbs, EachMessageKeepsItsContent) {
  FlowRun run;
  const char* mixes[] = {"write:70, read:20, send:10", "send, send_with_imm, write, write_with_imm",
                         "fetch_add, compare_swap, read, write_with_imm", "write:1, fetch_add:1"};
  std::string before;
  for (const char* verbs : mixes) {
    FlowConfig flow = mix(verbs);
    flow.after = before;
    before = verbs;
    run.add(verbs, flow);
  }
  ASSERT_TRUE(run.run()) << run.problem();
  for (std::size_t i = 0; i < std::size(mixes); ++i) {
    SCOPED_TRACE(mixes[i]);
    expectClean(run, *run.workload().flows()[i]);
  }
}

TEST(MixedVerbs, GoTogetherWithSizesListsInlineAndSharedReceives) {
  FlowRun run;
  FlowConfig flow = mix("write:40, read:20, send_with_imm:30, fetch_add:10");
  flow.size_distribution = sim::SizeDistribution::kUniform;
  flow.size_min = Bytes(8);
  flow.inline_size = Bytes(200);
  flow.post_list = 4;
  flow.cq_mod = 8;
  flow.srq = true;
  run.add("lists", flow);
  flow.after = "lists";
  flow.events = sim::EventOrder::kSafe;
  run.add("events", flow);
  FlowConfig unreliable = mix("send:60, write:40");
  unreliable.transport = sim::FlowTransport::kUc;
  unreliable.rx_depth = 512;
  unreliable.after = "events";
  run.add("unreliable", unreliable);
  ASSERT_TRUE(run.run()) << run.problem();
  for (const auto& each : run.workload().flows()) {
    SCOPED_TRACE(each->name());
    expectClean(run, *each);
  }
}

// With weights 70, 20 and 10 about a tenth of the messages takes a receive; 4 deviations are 38.
TEST(MixedVerbs, TheServerReceivesItsShare) {
  FlowRun run;
  run.add("mix", mix("write:70, read:20, send:10"));
  ASSERT_TRUE(run.run()) << run.problem();
  EXPECT_EQ(cqesWritten(run, 0), 1000U);
  EXPECT_NEAR(static_cast<double>(cqesWritten(run, 1)), 100, 38);
}

TEST(MixedVerbs, AnOpenLoopTakesThem) {
  FlowRun run;
  FlowConfig flow = mix("write:70, read:20, send:10");
  flow.arrival = sim::ArrivalKind::kPoisson;
  flow.rate = 1'000'000;
  run.add("mix", flow);
  ASSERT_TRUE(run.run()) << run.problem();
  expectClean(run, *run.workload().flows()[0]);
}

TEST(MixedVerbs, DurationEndsThem) {
  FlowRun run;
  FlowConfig flow = mix("write:70, read:20, send:10");
  flow.iters = 0;
  flow.duration = microseconds(100);
  run.add("mix", flow);
  ASSERT_TRUE(run.run()) << run.problem();
  sim::Flow& timed = *run.workload().flows()[0];
  EXPECT_GT(timed.result().iterations, 50U);
  EXPECT_EQ(timed.corrupted(), 0U);
}

// The last writes and the words of atomics are looked at in the end.
TEST(MixedVerbs, AChangedByteIsFound) {
  constexpr std::uint32_t kWords = 0, kWritten = 2;
  FlowRun run;
  run.add("atomics", mix("fetch_add:50, send:50"));
  FlowConfig writes = mix("write:50, send:50");
  writes.after = "atomics";
  run.add("writes", writes);
  ASSERT_TRUE(run.run()) << run.problem();
  for (const auto& flow : run.workload().flows()) {
    const sim::FlowEndpoint& server = flow->serverSide();
    const std::uint32_t area = flow->name() == "writes" ? kWritten : kWords;
    for (std::uint64_t slot = 0; slot < 32; ++slot) ++*server.bytes(server.address(area, 1, slot));
    (void)flow->result();
    EXPECT_GT(flow->corrupted(), 0U) << flow->name();
  }
}

}  // namespace
}  // namespace hca::test

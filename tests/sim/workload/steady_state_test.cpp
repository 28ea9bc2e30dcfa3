// Traffic that goes on and on takes no more memory. An executable of its own: it replaces the allocator.
#include "tests/sim/workload/flow_run.h"
#include "tests/support/counting_allocator.h"

namespace hca::test {
namespace {

// Whatever grows with each message doubles at least once between the two times, which is tens of thousands of messages
// apart. A pool that reaches a new high water takes a little.
void expectNoAllocation(const sim::FlowConfig& flow) {
  constexpr std::size_t kLittle = 4096;
  FlowRun run;
  run.add("steady", flow);
  EXPECT_FALSE(run.run(milliseconds(10)));
  const std::size_t warm = allocatedBytes;
  run.system().run(milliseconds(30));
  EXPECT_EQ(run.problem(), "");
  EXPECT_FALSE(run.flow(0).finished()) << "the flow must last longer than the test looks at it";
  EXPECT_LE(allocatedBytes - warm, kLittle);
}

sim::FlowConfig endless(sim::FlowVerb verb) {
  sim::FlowConfig flow;
  flow.kind = sim::FlowKind::kBandwidth;
  flow.verb = verb;
  flow.size = Bytes(64);
  flow.tx_depth = 32;
  flow.iters = 10'000'000;
  flow.warmup = 10'000'000;  // latencies, which it keeps, aren't meant
  return flow;
}

TEST(SteadyState, WritesAllocateNothing) { expectNoAllocation(endless(sim::FlowVerb::kWrite)); }
TEST(SteadyState, SendsAllocateNothing) { expectNoAllocation(endless(sim::FlowVerb::kSend)); }
TEST(SteadyState, ReadsAllocateNothing) { expectNoAllocation(endless(sim::FlowVerb::kRead)); }
TEST(SteadyState, AtomicsAllocateNothing) {
  sim::FlowConfig flow = endless(sim::FlowVerb::kFetchAdd);
  flow.size = Bytes(8);
  expectNoAllocation(flow);
}
TEST(SteadyState, PingPongAllocatesNothing) {
  sim::FlowConfig flow = endless(sim::FlowVerb::kSend);
  flow.kind = sim::FlowKind::kLatency;
  expectNoAllocation(flow);
}
TEST(SteadyState, LongMessagesAllocateNothing) {
  sim::FlowConfig flow = endless(sim::FlowVerb::kWrite);
  flow.size = Bytes(10'000);
  expectNoAllocation(flow);
}

}  // namespace
}  // namespace hca::test

// One section, many hosts that start.
#include <gtest/gtest.h>

#include "tests/sim/workload/flow_run.h"

namespace hca::test {
namespace {

using sim::FlowConfig;

void fiveHosts(config::Config& config) {
  config.host.count = 5;
  config.allHosts.cpu.cores = 2;
}

FlowConfig incast(const std::string& clients) {
  FlowConfig flow;
  flow.kind = sim::FlowKind::kBandwidth;
  flow.verb = sim::FlowVerb::kSend;
  flow.size = Bytes(256);
  flow.clients = clients;
  flow.server = 0;
  flow.server_core = 1;
  flow.iters = 100;
  flow.tx_depth = 8;
  return flow;
}

TEST(ManyClients, EachDoesTheWholeWork) {
  FlowRun run(fiveHosts);
  run.add("incast", incast("1-2, 4"));
  ASSERT_TRUE(run.run()) << run.problem();
  ASSERT_EQ(run.workload().flows().size(), 3U);
  const auto results = run.workload().results();
  ASSERT_EQ(results.size(), 1U);
  const report::FlowResult& all = results[0];
  EXPECT_EQ(all.name, "incast");
  EXPECT_EQ(all.iterations, 300U);
  EXPECT_EQ(all.bytes, 300U * 256);
  EXPECT_EQ(all.latency.samples, 300U);
  ASSERT_EQ(all.clients.size(), 3U);
  const std::uint32_t hosts[] = {1, 2, 4};
  Time least = kForever, most{};
  for (std::size_t i = 0; i < 3; ++i) {
    const report::FlowResult& own = all.clients[i];
    EXPECT_EQ(own.name, "incast." + std::to_string(hosts[i]));
    EXPECT_EQ(own.client, HostIndex(hosts[i]));
    EXPECT_EQ(own.iterations, 100U);
    EXPECT_EQ(run.flow(i).corrupted(), 0U);
    EXPECT_EQ(run.flow(i).clientSide().client().host(), HostIndex(hosts[i]));
    least = std::min(least, own.latency.minimum);
    most = later(most, own.latency.maximum);
    EXPECT_GE(all.measured, own.measured);
  }
  EXPECT_EQ(all.latency.minimum, least);
  EXPECT_EQ(all.latency.maximum, most);
}

// Cores 1, 0, 1: as far as there are any.
TEST(ManyClients, TheServersThreadsTakeItsCoresInTurn) {
  FlowRun run(fiveHosts);
  run.add("incast", incast("1-3"));
  ASSERT_TRUE(run.run()) << run.problem();
  const std::uint32_t cores[] = {1, 0, 1};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(run.flow(i).config().server_core, cores[i]) << i;
}

TEST(ManyClients, TheNextFlowWaitsForAll) {
  FlowRun run(fiveHosts);
  run.add("first", incast("1-4"));
  FlowConfig next = incast("");
  next.client = 3;
  next.after = "first";
  run.add("next", next);
  FlowConfig last = incast("2-3");
  last.after = "next";
  run.add("last", last);
  ASSERT_TRUE(run.run()) << run.problem();
  const auto& groups = run.workload().groups();
  for (const std::size_t before : {0U, 1U}) {
    for (const sim::Flow* early : groups[before].flows()) {
      for (const sim::Flow* late : groups[before + 1].flows()) {
        EXPECT_LE(early->measuredUntil(), late->measuredFrom());
      }
    }
  }
  const auto results = run.workload().results();
  ASSERT_EQ(results.size(), 3U);
  EXPECT_TRUE(results[1].clients.empty());
  EXPECT_EQ(results[2].clients.size(), 2U);
}

}  // namespace
}  // namespace hca::test

// Whole runs: the shipped configurations end as they say, and nothing but the configuration decides a result.
#include "sim/run/simulation.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "sim/report/result_json.h"
#include "tests/sim/run/shipped_config.h"

namespace hca::sim {
namespace {

using test::loadShipped;
using test::runConfig;

// In a process of its own, since SystemC elaborates once a process.
std::string jsonInChild(const config::Config& config, Time quantum) {
  char name[] = "/tmp/hcasim_run_XXXXXX";
  close(mkstemp(name));
  const pid_t child = fork();
  if (child == 0) {
    std::ofstream(name) << report::toJson(runConfig(config, quantum));
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  std::stringstream text;
  text << std::ifstream(name).rdbuf();
  std::remove(name);
  return text.str();
}

config::Config mixedLoad() {
  config::Config config;
  config.hosts.resize(config.host.count);
  FlowConfig flow;
  flow.kind = FlowKind::kBandwidth;
  flow.iters = 400;
  flow.qps = 3;
  flow.size = Bytes(3000);
  config.flows.push_back({"there", flow});
  flow.verb = FlowVerb::kSend;
  flow.events = EventOrder::kSafe;
  flow.client = 1;
  flow.server = 0;
  flow.client_core = flow.server_core = 1;
  flow.size = Bytes(64);
  config.flows.push_back({"back", flow});
  return config;
}

// One time stamp an activation is the slow reference; running ahead must change nothing.
TEST(Run, C49_QuantumChangesNoResult) {
  const config::Config config = mixedLoad();
  const std::string reference = jsonInChild(config, Time());
  ASSERT_GT(reference.size(), 1000u);
  EXPECT_EQ(jsonInChild(config, nanoseconds(7)), reference);
  EXPECT_EQ(jsonInChild(config, System::kQuantum), reference);
  EXPECT_EQ(jsonInChild(config, milliseconds(1)), reference);
}

std::vector<std::string> stagesOf(const FlowConfig& flow) {
  config::Config config;
  config.hosts.resize(config.host.count);
  config.flows.push_back({"flow", flow});
  std::vector<std::string> names;
  Time before;
  const report::Result result = runConfig(config);
  for (const report::StageResult& stage : result.flows.at(0).stages) {
    EXPECT_EQ(stage.samples, static_cast<std::uint64_t>(flow.iters)) << stage.name;
    names.push_back(stage.name);
    if (stage.name == "payload_placed") continue;  // the acknowledgement may be back before it is
    EXPECT_GE(stage.sincePosted, before) << stage.name;
    before = stage.sincePosted;
  }
  return names;
}

FlowConfig writes(std::int64_t size, std::int64_t inlined) {
  FlowConfig flow;
  flow.kind = FlowKind::kBandwidth;
  flow.iters = 50;
  flow.tx_depth = 1;
  flow.size = Bytes(size);
  flow.inline_size = Bytes(inlined);
  return flow;
}

TEST(Run, EveryRequestPassesTheStagesInTheirOrder) {
  EXPECT_EQ(stagesOf(writes(2000, 0)),
            (std::vector<std::string>{"doorbell_arrived", "wqe_fetched", "scheduled", "payload_fetched",
                                      "first_packet_sent", "last_packet_sent", "last_packet_arrived", "payload_placed",
                                      "acknowledged", "cqe_issued", "cqe_visible", "polled"}));
}

TEST(Run, InlineDataIsNotFetched) {
  EXPECT_EQ(stagesOf(writes(64, 64)),
            (std::vector<std::string>{"doorbell_arrived", "wqe_fetched", "scheduled", "first_packet_sent",
                                      "last_packet_sent", "last_packet_arrived", "payload_placed", "acknowledged",
                                      "cqe_issued", "cqe_visible", "polled"}));
}

TEST(Run, QuickstartIsWithinAQuarterOfThePublishedFigures) {
  const report::Result result = runConfig(loadShipped("quickstart.ini"));
  EXPECT_FALSE(result.failed());
  ASSERT_EQ(result.flows.size(), 5u);
  for (const report::FlowResult& flow : result.flows) {
    ASSERT_TRUE(flow.published.has_value());
    const double simulated = static_cast<double>(flow.latency.p50.count());
    const double published = static_cast<double>(flow.published->count());
    EXPECT_NEAR(simulated / published, 1.0, 0.25) << flow.name;
  }
}

TEST(Run, ResizeUnderLoadLosesNothing) {
  const report::Result result = runConfig(loadShipped("resize_under_load.ini"));
  EXPECT_FALSE(result.failed());
  ASSERT_EQ(result.flows.size(), 3u);
  for (const report::FlowResult& flow : result.flows) {
    EXPECT_EQ(flow.iterations, 5000u) << flow.name;
    EXPECT_EQ(flow.errors, 0u) << flow.name;
  }
  std::vector<std::uint32_t> depths;
  for (const report::CqResult& cq : result.cqs) {
    depths.push_back(cq.cqe);
    EXPECT_EQ(cq.resizes, 1u);
  }
  EXPECT_EQ(depths, (std::vector<std::uint32_t>{4095, 1023, 4095, 4095, 1023, 4095}));
}

TEST(Run, ModerationTradesEventsForLatency) {
  const report::Result result = runConfig(loadShipped("moderation.ini"));
  EXPECT_FALSE(result.failed());
  ASSERT_EQ(result.flows.size(), 6u);
  ASSERT_EQ(result.cqs.size(), 12u);
  // By flow: none, 4us_8, 16us_16, 32us_32, 50us_shallow, rdma_dim; the server's queues come behind the client's.
  const auto serverEvents = [&](std::size_t flow) { return result.cqs[6 + flow].events; };
  const auto clientEvents = [&](std::size_t flow) { return result.cqs[flow].events; };
  const auto median = [&](std::size_t flow) { return result.flows[flow].latency.p50; };
  EXPECT_LT(serverEvents(2) * 10, serverEvents(0) * 7);
  EXPECT_LT(serverEvents(3) * 10, serverEvents(0) * 4);
  EXPECT_EQ(median(3), median(0)) << "fewer events for nothing";
  EXPECT_NEAR(static_cast<double>(median(4).count()), static_cast<double>(microseconds(50).count()), 2e6);
  EXPECT_EQ(clientEvents(4), 1250u) << "the client sleeps once a window";
}

TEST(Run, ArmRaceIsLostAndNamed) {
  const report::Result result = runConfig(loadShipped("arm_race_lost.ini"));
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_EQ(result.failures[0].kind, "lost_wakeup");
  EXPECT_EQ(result.failures[0].host, HostIndex(1));
  EXPECT_EQ(result.failures[0].entries, 1u);
  EXPECT_TRUE(result.failures[0].cq.has_value());
  EXPECT_GT(result.failures[0].since, Time());
  EXPECT_FALSE(result.failures[0].software.empty());
  EXPECT_FALSE(result.failures[0].hardware.empty());
}

TEST(Run, ArmRaceIsSurvivedByOnePollMore) {
  const report::Result result = runConfig(loadShipped("arm_race_safe.ini"));
  EXPECT_FALSE(result.failed());
  EXPECT_EQ(result.flows[0].iterations, 2u);
}

TEST(Run, LenientArmRuleServesTheSameRaceAndSaysSo) {
  const report::Result result =
      runConfig(loadShipped("arm_race_lost.ini", {{"--set", "adapter.completion.arm_rule=ci_compare_once"}}));
  EXPECT_FALSE(result.failed());
  ASSERT_EQ(result.hazards.size(), 1u);
  EXPECT_EQ(result.hazards[0].kind, "arm_after_entry");
}

TEST(Run, StrictNotifyMakesTheLossReal) {
  const report::Result result =
      runConfig(loadShipped("arm_race_lost.ini", {{"--set", "adapter.completion.arm_rule=ci_compare_once"},
                                                  {"--set", "run.strict_notify=true"}}));
  EXPECT_TRUE(result.failed());
}

// The eleven steps, in order, as a reader of the two demonstrations sees them.
std::vector<int> steps(const std::string& name) {
  std::ostringstream told;
  Simulation::Options options;
  options.events = &told;
  const report::Result result = Simulation(loadShipped(name), options).run();
  (void)result;
  std::vector<int> found;
  std::istringstream lines(told.str());
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("step ");
    if (at != std::string::npos && (found.empty() || found.back() != std::atoi(line.c_str() + at + 5))) {
      found.push_back(std::atoi(line.c_str() + at + 5));
    }
  }
  return found;
}

TEST(Run, LostRaceTellsStepsOneToFive) { EXPECT_EQ(steps("arm_race_lost.ini"), (std::vector<int>{1, 2, 3, 4, 5})); }
TEST(Run, SafeRaceTellsStepsSixToEleven) {
  EXPECT_EQ(steps("arm_race_safe.ini"), (std::vector<int>{6, 7, 8, 9, 10, 11}));
}

std::uint64_t dropped(const report::Result& result, const std::string& reason) {
  std::uint64_t count = 0;
  for (const report::DropResult& drop : result.drops) {
    if (drop.reason == reason) count += drop.count;
  }
  return count;
}

TEST(Run, ReliableConnectionsSurviveLoss) {
  const report::Result result = runConfig(loadShipped("loss.ini"));
  EXPECT_FALSE(result.failed());
  ASSERT_EQ(result.flows.size(), 2u);
  for (const report::FlowResult& flow : result.flows) EXPECT_EQ(flow.iterations, 5000u) << flow.name;
  // 20 000 packets of the stream and as many of the ping-pong, its acknowledgements included.
  EXPECT_GT(dropped(result, "packet_lost"), 20u);
  EXPECT_GT(result.flows[0].latency.maximum, microseconds(32)) << "half of a round trip with a time-out";
  EXPECT_LT(result.flows[0].latency.p50, microseconds(10));
}

TEST(Run, C49_LossIsRepeatable) {
  config::Config config = loadShipped("loss.ini");
  const std::string reference = jsonInChild(config, System::kQuantum);
  EXPECT_EQ(jsonInChild(config, System::kQuantum), reference);
  config.run.seed = 2;
  EXPECT_NE(jsonInChild(config, System::kQuantum), reference);
}

// Each kind of fault on every way there and back, content checked.
TEST(Run, ContentSurvivesEveryKindOfFault) {
  config::Config config = mixedLoad();
  for (config::HostSections& host : config.hosts) {
    host.faults.loss = 0.003;
    host.faults.lossBurst = 2;
    host.faults.corruption = 0.003;
    host.faults.duplication = 0.01;
    host.faults.delay = 0.003;
  }
  for (config::NamedFlow& named : config.flows) named.flow.ack_timeout = 4;
  const report::Result result = runConfig(config);
  EXPECT_FALSE(result.failed());
  for (const report::FlowResult& flow : result.flows) EXPECT_EQ(flow.iterations, 3u * 400u) << flow.name;
  EXPECT_GT(dropped(result, "packet_lost"), 0u);
  EXPECT_GT(dropped(result, "packet_corrupted"), 0u);
}

// Far more is on its way into the server's memory than fits into what an acknowledgement takes.
TEST(Run, WritesIntoASlowHostArriveBeforeTheyAreChecked) {
  config::Config config;
  config.hosts.resize(2);
  config.hosts[1].pcie.writeLatency = microseconds(100);
  config.hosts[1].pcie.upstreamCredits.postedHeaders = 4;
  FlowConfig flow;
  flow.kind = FlowKind::kBandwidth;
  flow.size = Bytes(4096);
  flow.tx_depth = 32;
  flow.iters = 32;
  config.flows.push_back({"write", flow});
  const report::Result result = runConfig(config);
  EXPECT_FALSE(result.failed()) << (result.failures.empty() ? "" : result.failures[0].message);
}

TEST(Run, FaultsOnBothLinksOfAHostAreCounted) {
  config::Config config;
  config.fabricSwitch.always = true;
  config.hosts.resize(2);
  config.hosts[0].faults.duplicate = "3";
  config.hosts[0].faults.hold = "9";
  config.hosts[1].switchFaults.lose = "2";
  config.hosts[1].switchFaults.corrupt = "7";
  FlowConfig flow;
  flow.kind = FlowKind::kBandwidth;
  flow.size = Bytes(64);
  flow.iters = 50;
  flow.tx_depth = 4;
  flow.ack_timeout = 4;
  config.flows.push_back({"write", flow});
  const report::Result result = runConfig(config);
  EXPECT_FALSE(result.failed());
  ASSERT_EQ(result.faults.size(), 2u);
  const report::FaultResult& from = result.faults[0];
  EXPECT_EQ(std::tie(from.fromSwitch, from.lost, from.corrupted, from.duplicated, from.held),
            std::make_tuple(false, 0u, 0u, 1u, 1u));
  const report::FaultResult& to = result.faults[1];
  EXPECT_EQ(to.host, HostIndex(1));
  EXPECT_EQ(std::tie(to.fromSwitch, to.lost, to.corrupted, to.duplicated, to.held),
            std::make_tuple(true, 1u, 1u, 0u, 0u));
  ASSERT_EQ(result.switchPorts.size(), 2u);
  EXPECT_GE(result.switchPorts[1].forwarded, 50u);
  EXPECT_EQ(result.switchPorts[1].dropped, 0u);
}

config::Config allToOne(std::uint32_t hosts) {
  config::Config config;
  config.host.count = hosts;
  config.hosts.resize(hosts);
  for (std::uint32_t client = 1; client < hosts; ++client) {
    FlowConfig flow;
    flow.kind = FlowKind::kBandwidth;
    flow.client = client;
    flow.server = 0;
    flow.size = Bytes(8192);
    flow.tx_depth = 8;
    flow.iters = 50;
    config.flows.push_back({"from_" + std::to_string(client), flow});
  }
  return config;
}

TEST(Run, SixteenHostsAllToOneComplete) {
  const report::Result result = runConfig(allToOne(16));
  EXPECT_FALSE(result.failed());
  ASSERT_EQ(result.flows.size(), 15u);
  for (const report::FlowResult& flow : result.flows) EXPECT_EQ(flow.iterations, 50u) << flow.name;
  EXPECT_TRUE(result.drops.empty());
}

TEST(Run, SixteenHostsAllToOneCompleteThroughASmallBuffer) {
  config::Config config = allToOne(16);
  config.fabricSwitch.buffer = Bytes(300'000);
  for (config::NamedFlow& named : config.flows) named.flow.ack_timeout = 8;
  const report::Result result = runConfig(config);
  EXPECT_FALSE(result.failed());
  for (const report::FlowResult& flow : result.flows) EXPECT_EQ(flow.iterations, 50u) << flow.name;
  EXPECT_GT(dropped(result, "switch_buffer_full"), 0u);
}

// What arrives has gone through one cable: a message waits there for the windows of everybody.
TEST(Run, IncastSharesOneCable) {
  const report::Result result = runConfig(loadShipped("incast.ini"));
  EXPECT_FALSE(result.failed());
  EXPECT_TRUE(result.drops.empty());
  constexpr std::int64_t kMessage = 16 * (4096 + 26) + 16;  // packets; the first has the RDMA header
  constexpr double kWindows = 8 * 4 * kMessage * 80;        // ps
  ASSERT_EQ(result.flows.size(), 1u);
  const report::FlowResult& all = result.flows[0];
  EXPECT_EQ(all.iterations, 8 * 200u);
  EXPECT_EQ(all.latency.samples, 8 * 200u);
  EXPECT_EQ(all.bottleneck, "last_packet_arrived");
  ASSERT_EQ(all.clients.size(), 8u);
  for (const report::FlowResult& flow : all.clients) {
    EXPECT_EQ(flow.iterations, 200u) << flow.name;
    EXPECT_NEAR(static_cast<double>(flow.latency.p50.count()) / kWindows, 1, 0.01) << flow.name;
    EXPECT_NEAR(flow.throughput, all.throughput / 8, 0.05 * all.throughput) << flow.name;
  }
}

// The switch costs each of the two ways its latency and a second cable, and saves nothing.
TEST(Run, TheSwitchAddsItsLatencyToAPingPong) {
  config::Config config;
  config.hosts.resize(config.host.count);
  FlowConfig flow;
  flow.iters = 1;
  config.flows.push_back({"ping", flow});
  const auto latencyInChild = [](const config::Config& c) {
    const std::string json = jsonInChild(c, System::kQuantum);
    const std::size_t at = json.find("\"p50\":");
    EXPECT_NE(at, std::string::npos);
    return std::atof(json.c_str() + at + 6);
  };
  const double direct = latencyInChild(config);
  config.fabricSwitch.always = true;
  EXPECT_NEAR(latencyInChild(config) - direct, 269 + 10, 1.0);
}

TEST(Run, PayloadTimingGivesTheSameTimes) {
  config::Config config = mixedLoad();
  const std::string moved = jsonInChild(config, System::kQuantum);
  config.run.payload = config::PayloadMode::kTiming;
  std::string timing = jsonInChild(config, System::kQuantum);
  const std::size_t at = timing.find("\"timing\"");
  ASSERT_NE(at, std::string::npos);
  timing.replace(at, 8, "\"moved\"");
  EXPECT_EQ(timing, moved);
}

}  // namespace
}  // namespace hca::sim

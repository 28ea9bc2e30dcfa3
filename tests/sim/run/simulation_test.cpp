// Whole runs: the shipped configurations end as they say, and nothing but the configuration decides a result.
#include "sim/run/simulation.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "sim/config/config_loader.h"
#include "sim/report/result_json.h"

namespace hca::sim {
namespace {

config::Config load(const std::string& name, const std::vector<config::Setting>& settings = {}) {
  config::LoadedConfig loaded = config::loadConfig({std::string(HCASIM_CONFIGS) + "/" + name}, settings);
  EXPECT_TRUE(loaded.problems.empty());
  return loaded.config;
}

report::Result run(const config::Config& config, Time quantum = System::kQuantum) {
  Simulation::Options options;
  options.quantum = quantum;
  return Simulation(config, options).run();
}

// In a process of its own, since SystemC elaborates once a process.
std::string jsonInChild(const config::Config& config, Time quantum) {
  char name[] = "/tmp/hcasim_run_XXXXXX";
  close(mkstemp(name));
  const pid_t child = fork();
  if (child == 0) {
    std::ofstream(name) << report::toJson(run(config, quantum));
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
TEST(Run, QuantumChangesNoResult) {
  const config::Config config = mixedLoad();
  const std::string reference = jsonInChild(config, Time());
  ASSERT_GT(reference.size(), 1000u);
  EXPECT_EQ(jsonInChild(config, nanoseconds(7)), reference);
  EXPECT_EQ(jsonInChild(config, System::kQuantum), reference);
  EXPECT_EQ(jsonInChild(config, milliseconds(1)), reference);
}

TEST(Run, QuickstartIsWithinAQuarterOfThePublishedFigures) {
  const report::Result result = run(load("quickstart.ini"));
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
  const report::Result result = run(load("resize_under_load.ini"));
  EXPECT_FALSE(result.failed());
  ASSERT_EQ(result.flows.size(), 3u);
  for (const report::FlowResult& flow : result.flows) {
    EXPECT_EQ(flow.iterations, 5000u) << flow.name;
    EXPECT_EQ(flow.errors, 0u) << flow.name;
  }
  std::vector<std::uint32_t> depths;
  for (const report::CqResult& cq : result.cqs) depths.push_back(cq.cqe);
  EXPECT_EQ(depths, (std::vector<std::uint32_t>{4095, 1023, 4095, 4095, 1023, 4095}));
}

TEST(Run, ModerationTradesEventsForLatency) {
  const report::Result result = run(load("moderation.ini"));
  EXPECT_FALSE(result.failed());
  ASSERT_EQ(result.flows.size(), 6u);
  ASSERT_EQ(result.cqs.size(), 12u);
  // By flow: none, 4us_8, 16us_16, 32us_32, 50us, rdma_dim; the server's queues come behind the client's.
  const auto serverEvents = [&](std::size_t flow) { return result.cqs[6 + flow].events; };
  const auto clientEvents = [&](std::size_t flow) { return result.cqs[flow].events; };
  const auto median = [&](std::size_t flow) { return result.flows[flow].latency.p50; };
  EXPECT_LT(serverEvents(2) * 10, serverEvents(0) * 7);
  EXPECT_EQ(median(2), median(0)) << "fewer events for nothing";
  EXPECT_NEAR(static_cast<double>(median(3).count()), static_cast<double>(microseconds(32).count()), 2e6);
  EXPECT_NEAR(static_cast<double>(median(4).count()), static_cast<double>(microseconds(50).count()), 2e6);
  EXPECT_GT(clientEvents(3), clientEvents(0)) << "the client sleeps once a window";
}

TEST(Run, ArmRaceIsLostAndNamed) {
  const report::Result result = run(load("arm_race_lost.ini"));
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
  const report::Result result = run(load("arm_race_safe.ini"));
  EXPECT_FALSE(result.failed());
  EXPECT_EQ(result.flows[0].iterations, 2u);
}

TEST(Run, LenientArmRuleServesTheSameRaceAndSaysSo) {
  const report::Result result =
      run(load("arm_race_lost.ini", {{"--set", "adapter.completion.arm_rule=ci_compare_once"}}));
  EXPECT_FALSE(result.failed());
  ASSERT_EQ(result.hazards.size(), 1u);
  EXPECT_EQ(result.hazards[0].kind, "arm_after_entry");
}

TEST(Run, StrictNotifyMakesTheLossReal) {
  const report::Result result = run(load("arm_race_lost.ini", {{"--set", "adapter.completion.arm_rule=ci_compare_once"},
                                                               {"--set", "run.strict_notify=true"}}));
  EXPECT_TRUE(result.failed());
}

// The eleven steps, in order, as a reader of the two demonstrations sees them.
std::vector<int> steps(const std::string& name) {
  std::ostringstream told;
  Simulation::Options options;
  options.events = &told;
  const report::Result result = Simulation(load(name), options).run();
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

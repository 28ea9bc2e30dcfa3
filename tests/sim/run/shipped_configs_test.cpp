// What the comments of the shipped configurations say, on their results.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "tests/sim/run/shipped_config.h"

namespace hca::test {
namespace {

using report::CqResult;
using report::FlowResult;
using report::PcieResult;
using report::Result;

const FlowResult& flow(const Result& result, const std::string& name) {
  const auto found =
      std::find_if(result.flows.begin(), result.flows.end(), [&](const FlowResult& f) { return f.name == name; });
  if (found == result.flows.end()) throw std::runtime_error("no flow " + name);
  return *found;
}

std::vector<CqResult> queuesOf(const Result& result, std::uint32_t host) {
  std::vector<CqResult> queues;
  std::copy_if(result.cqs.begin(), result.cqs.end(), std::back_inserter(queues),
               [=](const CqResult& cq) { return cq.host == HostIndex(host); });
  return queues;
}

TEST(ShippedConfigs, SolicitedOnlyWakesForEverySixteenthMessage) {
  const Result result = runShipped("solicited_only.ini");
  EXPECT_FALSE(result.failed());
  const auto queues = queuesOf(result, 1);
  ASSERT_EQ(queues.size(), 2U);
  EXPECT_EQ(queues[0].cqesWritten, 320U);
  EXPECT_EQ(queues[1].cqesWritten, 320U);
  EXPECT_GE(queues[0].events, 300U);
  EXPECT_EQ(queues[1].events, 20U);
}

// Polling for 5 us spares most of the events.
TEST(ShippedConfigs, StorageMixPollsBeforeItSleeps) {
  const Result result = runShipped("storage_mix.ini");
  EXPECT_FALSE(result.failed());
  const FlowResult& clients = flow(result, "clients");
  EXPECT_EQ(clients.iterations, 4 * 2000U);
  EXPECT_EQ(clients.clients.size(), 4U);
  EXPECT_NEAR(static_cast<double>(clients.bytes) / 8000, 5200, 300) << "mean of storage_mix.csv";
  for (std::uint32_t host = 1; host <= 4; ++host) {
    ASSERT_EQ(queuesOf(result, host).size(), 1U);
    const CqResult queue = queuesOf(result, host)[0];
    EXPECT_EQ(queue.cqesWritten, 2000U);
    EXPECT_GT(queue.events, 50U);
    EXPECT_LT(queue.events, 200U);
  }
}

TEST(ShippedConfigs, OverrunCheckedStopsWithAnEvent) {
  const Result result = runShipped("overrun_checked.ini");
  EXPECT_TRUE(result.failed());
  ASSERT_FALSE(result.asyncEvents.empty());
  EXPECT_EQ(result.asyncEvents[0].type, "CQ_ERR");
  const auto queues = queuesOf(result, 0);
  ASSERT_EQ(queues.size(), 1U);
  EXPECT_EQ(queues[0].overruns, 1U);
  EXPECT_LE(queues[0].highWater, queues[0].cqe + 1);
}

TEST(ShippedConfigs, OverrunIgnoredLosesEntriesSilently) {
  const Result result = runShipped("overrun_ignored.ini");
  EXPECT_FALSE(result.failed());
  EXPECT_EQ(flow(result, "flood").iterations, 1000U);
  EXPECT_TRUE(result.asyncEvents.empty());
  const auto queues = queuesOf(result, 0);
  ASSERT_EQ(queues.size(), 1U);
  EXPECT_GT(queues[0].lost, 0U);
  EXPECT_EQ(flow(result, "flood").errors, 0U);
}

TEST(ShippedConfigs, SharedQueueServesSixtyFourQueuePairsFaster) {
  const Result result = runShipped("shared_cq.ini");
  EXPECT_FALSE(result.failed());
  const auto queues = queuesOf(result, 0);
  ASSERT_EQ(queues.size(), 65U);
  for (const CqResult& queue : queues) EXPECT_TRUE(queue.cqesWritten == 3200 || queue.cqesWritten == 50);
  EXPECT_EQ(std::count_if(queues.begin(), queues.end(), [](const CqResult& q) { return q.cqesWritten == 3200; }), 1);
  const FlowResult& shared = flow(result, "shared");
  const FlowResult& own = flow(result, "own");
  EXPECT_EQ(shared.iterations, 3200U);
  EXPECT_EQ(own.iterations, 3200U);
  EXPECT_GT(shared.messageRate, 1.1 * own.messageRate);
  EXPECT_GT(own.latency.p99.count(), 2 * shared.latency.p99.count());
}

std::vector<std::uint64_t> interruptsOfHost1(const Result& result) {
  std::vector<std::uint64_t> interrupts;
  for (const report::VectorResult& vector : result.vectors) {
    if (vector.host == HostIndex(1) && vector.completionVector && vector.interrupts != 0) {
      interrupts.push_back(vector.interrupts);
    }
  }
  return interrupts;
}

TEST(ShippedConfigs, VectorsShareTheInterrupts) {
  const Result result = runShipped("vectors.ini");
  EXPECT_FALSE(result.failed());
  const auto interrupts = interruptsOfHost1(result);
  ASSERT_EQ(interrupts.size(), 4U);
  for (const std::uint64_t count : interrupts) EXPECT_NEAR(static_cast<double>(count), 400.0, 5.0);
}

TEST(ShippedConfigs, ReceiverNotReadyCostsAWait) {
  const Result result = runShipped("rnr.ini");
  EXPECT_FALSE(result.failed());
  EXPECT_LT(flow(result, "enough").latency.maximum, microseconds(10));
  EXPECT_GT(flow(result, "short").latency.maximum, microseconds(10));
  EXPECT_LT(flow(result, "short").latency.maximum, microseconds(640));
  EXPECT_GT(flow(result, "long").latency.maximum, microseconds(640));
  EXPECT_GT(flow(result, "long").measured, flow(result, "short").measured);
}

TEST(ShippedConfigs, ReceiverNotReadyWithoutRetryIsAnError) {
  const Result result = runShipped("rnr.ini", {"flow.short.rnr_retry=0"});
  ASSERT_TRUE(result.failed());
  EXPECT_NE(result.failures[0].message.find("RNR_RETRY_EXC_ERR"), std::string::npos);
}

// Flows: tenth, half, most, beyond, sizes.
TEST(ShippedConfigs, OpenLoopQueuesNearSaturation) {
  const report::Result result = runConfig(loadShipped("open_loop.ini"));
  EXPECT_FALSE(result.failed());
  ASSERT_EQ(result.flows.size(), 5u);
  const auto tail = [&](std::size_t flow) {
    return static_cast<double>(result.flows[flow].latency.p99.count()) /
           static_cast<double>(result.flows[flow].latency.p50.count());
  };
  EXPECT_LT(tail(0), 1.3);
  EXPECT_GT(tail(1), 1.4);
  EXPECT_GT(tail(2), 3);
  EXPECT_GT(result.flows[3].latency.p50, microseconds(500)) << "the backlog";
  EXPECT_LT(result.flows[3].messageRate, 10e6);
  EXPECT_NEAR(static_cast<double>(result.flows[4].bytes) / 20000, 0.8 * 64 + 0.15 * 4096 + 0.05 * 65536, 150);
}

TEST(ShippedConfigs, AtomicsOfOneAddressWaitForEachOther) {
  const Result result = runShipped("atomics.ini");
  EXPECT_FALSE(result.failed());
  const auto p50 = [&](const char* name) { return static_cast<double>(flow(result, name).latency.p50.count()); };
  EXPECT_NEAR(p50("fetch_add_latency") / p50("read_latency"), 1.0, 0.1);
  EXPECT_NEAR(p50("compare_swap_latency") / p50("fetch_add_latency"), 1.0, 0.01);
  const auto rate = [&](const char* name) { return flow(result, name).messageRate; };
  EXPECT_GT(rate("eight_counters"), 3 * rate("one_counter"));
  EXPECT_GT(rate("reads"), 2 * rate("one_counter"));
}

double utilisation(const Result& result, std::uint32_t host, PcieResult::Direction direction) {
  for (const PcieResult& link : result.pcie) {
    if (link.host == HostIndex(host) && link.direction == direction) return link.utilisation;
  }
  return 0;
}

TEST(ShippedConfigs, SlowerPcieGenerationDecidesBothWays) {
  const Result result = runShipped("pcie_generations.ini");
  EXPECT_FALSE(result.failed());
  for (const char* name : {"from_old", "to_old"}) {
    EXPECT_GT(flow(result, name).throughput, 40.0) << name;
    EXPECT_LT(flow(result, name).throughput, 63.0) << name;
  }
  // Each flow uses one direction of each link, half of the time.
  const auto up = PcieResult::Direction::kUpstream;
  const auto down = PcieResult::Direction::kDownstream;
  EXPECT_GT(utilisation(result, 0, down), 3 * utilisation(result, 1, up));
  EXPECT_GT(utilisation(result, 0, up), 3 * utilisation(result, 1, down));
}

TEST(ShippedConfigs, WithTwoFastGenerationsTheNetworkDecides) {
  const Result result = runShipped("pcie_generations.ini", {"host.0.pcie.generation=5"});
  EXPECT_FALSE(result.failed());
  for (const FlowResult& each : result.flows) EXPECT_GT(each.throughput, 80.0) << each.name;
}

TEST(ShippedConfigs, DrillsAllHappenAndTheFlowGoesOn) {
  const Result result = runShipped("drills.ini");
  EXPECT_FALSE(result.failed());
  EXPECT_EQ(flow(result, "ping").iterations, 2000U);
  ASSERT_EQ(result.drills.size(), 4U);
  for (const report::DrillResult& drill : result.drills) EXPECT_TRUE(drill.done) << drill.name;
  ASSERT_EQ(result.drills[1].kernelLog.size(), 2U);
  EXPECT_EQ(result.drills[1].kernelLog[0], "Recovered 1 EQEs on cmd_eq");
}

}  // namespace
}  // namespace hca::test

// Runs with two ports an adapter and several adapters a host: what they share, what not, and what results call them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>

#include "sim/report/result_json.h"
#include "tests/sim/run/shipped_config.h"

namespace hca::sim {
namespace {

using test::runConfig;
using testing::HasSubstr;

struct Ends {
  std::uint32_t adapter = 0;
  std::uint32_t port = 1;
};

FlowConfig stream(const Ends& client, const Ends& server, std::uint32_t core = 0) {
  FlowConfig flow;
  flow.kind = FlowKind::kBandwidth;
  flow.size = Bytes(65536);
  flow.tx_depth = 32;
  flow.warmup = 32;
  flow.iters = 600;
  flow.client_core = flow.server_core = core;
  flow.client_adapter = client.adapter;
  flow.client_port = client.port;
  flow.server_adapter = server.adapter;
  flow.server_port = server.port;
  return flow;
}

config::Config hostsWith(std::uint32_t adapters, std::uint32_t ports) {
  config::Config config;
  config.hosts.resize(config.host.count);
  for (config::HostSections& host : config.hosts) {
    host.host.adapters = adapters;
    host.adapter.device.ports = ports;
  }
  return config;
}

double throughput(const report::Result& result) {
  double sum = 0;
  for (const report::FlowResult& flow : result.flows) {
    EXPECT_EQ(flow.iterations, 600u);
    EXPECT_EQ(flow.errors, 0u);
    sum += flow.throughput;
  }
  EXPECT_FALSE(result.failed());
  return sum;
}

// With what is under way when the measurement begins, a link of 54.5 Gb/s comes to 51.5 of payload here, and 16 lanes
// of generation 3 to 82.4 of what is read from memory in completions of 64 bytes.
config::Config narrow(std::uint32_t adapters, std::uint32_t ports) {
  config::Config config = hostsWith(adapters, ports);
  config.link.rate = BitsPerSecond(54'500'000'000);
  return config;
}

TEST(RunPorts, TwoPortsCarryTwiceAsMuchWherePcieHasRoom) {
  config::Config config = narrow(1, 2);
  for (config::HostSections& host : config.hosts) host.pcie.generation = 4;
  config.flows = {{"first", stream({0, 1}, {0, 1})}, {"second", stream({0, 2}, {0, 2}, 1)}};
  EXPECT_NEAR(throughput(runConfig(config)), 2 * 51.49, 0.1);
}

TEST(RunPorts, TwoPortsOfOneAdapterShareItsPcieLink) {
  config::Config config = narrow(1, 2);
  config.flows = {{"first", stream({0, 1}, {0, 1})}, {"second", stream({0, 2}, {0, 2}, 1)}};
  EXPECT_NEAR(throughput(runConfig(config)), 82.4, 1.0);
}

TEST(RunPorts, TwoAdaptersHaveAPcieLinkEach) {
  config::Config config = narrow(2, 1);
  config.flows = {{"first", stream({0, 1}, {0, 1})}, {"second", stream({1, 1}, {1, 1}, 1)}};
  const report::Result result = runConfig(config);
  EXPECT_NEAR(throughput(result), 2 * 51.49, 0.1);
  ASSERT_EQ(result.pcie.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(result.pcie[i].host.value(), i / 4);
    EXPECT_EQ(result.pcie[i].adapter.value(), i / 2 % 2);
  }
  EXPECT_EQ(result.pcie[1].bytes, result.pcie[3].bytes) << "of both adapters of host 0, to them";
  EXPECT_GT(result.pcie[1].bytes, 600u * 65536);
  const auto sendsOf = [&](std::uint32_t adapter) {
    return std::count_if(result.cqs.begin(), result.cqs.end(), [=](const report::CqResult& cq) {
      return cq.host == HostIndex(0) && cq.adapter.value() == adapter && cq.cqesWritten > 600;
    });
  };
  EXPECT_EQ(sendsOf(0), 1);
  EXPECT_EQ(sendsOf(1), 1);
}

TEST(RunPorts, OneSideMayUseOneAdapterAndTheOtherTwoPorts) {
  config::Config config = narrow(1, 1);
  config.hosts[0].host.adapters = 2;
  config.hosts[1].adapter.device.ports = 2;
  config.hosts[1].adapter.transport.ingressBuffer = Bytes(256 << 10);
  config.fabricSwitch.always = true;
  config.flows = {{"first", stream({0, 1}, {0, 2})}, {"second", stream({1, 1}, {0, 1}, 1)}};
  const report::Result result = runConfig(config);
  EXPECT_NEAR(throughput(result), 99.2, 1.0);
  ASSERT_EQ(result.switchPorts.size(), 4u);
  EXPECT_EQ(result.switchPorts[1].adapter, AdapterIndex(1));
  EXPECT_EQ(result.switchPorts[1].port, std::nullopt);
  EXPECT_EQ(result.switchPorts[3].adapter, std::nullopt);
  EXPECT_EQ(result.switchPorts[3].port, 2u);
  EXPECT_GT(result.switchPorts[3].forwarded, 600u * 16);
}

// Without its limit the slow side would take what comes, to write it some time.
TEST(RunPorts, AFullPcieLinkHoldsTheSendersOfBothPortsBack) {
  config::Config config = hostsWith(1, 2);
  config.hosts[0].pcie.generation = 5;
  for (config::HostSections& host : config.hosts) host.adapter.transport.ingressBuffer = Bytes(256 << 10);
  config.flows = {{"first", stream({0, 1}, {0, 1})}, {"second", stream({0, 2}, {0, 2}, 1)}};
  const report::Result result = runConfig(config);
  EXPECT_NEAR(throughput(result), 99.2, 1.0);
  EXPECT_NEAR(result.flows[0].throughput, result.flows[1].throughput, 1.0);
}

TEST(RunPorts, FromPortToPortOfOneAdapterGoesThroughTheSwitch) {
  config::Config config = hostsWith(1, 2);
  config.fabricSwitch.always = true;
  FlowConfig flow = stream({0, 1}, {0, 2});
  flow.server = 0;
  flow.server_core = 1;
  config.flows = {{"round", flow}};
  const report::Result result = runConfig(config);
  EXPECT_GT(throughput(result), 50.0);
  EXPECT_GT(result.switchPorts[1].forwarded, 600u * 16);
}

TEST(RunPorts, RoceReachesTheSecondPort) {
  config::Config config = hostsWith(2, 2);
  config.link.layer = network::LinkLayer::kRoceV2;
  FlowConfig datagrams = stream({1, 2}, {1, 2});
  datagrams.transport = FlowTransport::kUd;
  datagrams.verb = FlowVerb::kSend;
  datagrams.size = Bytes(1024);
  config.flows = {{"stream", stream({1, 2}, {1, 2})}, {"datagrams", datagrams}};
  config.flows[1].flow.after = "stream";
  throughput(runConfig(config));
}

TEST(RunPorts, ThePortsOwnRateCounts) {
  config::Config config = hostsWith(1, 2);
  config.fabricSwitch.always = true;
  // Host 1's second port is a slow one, from and to which packets cross the switch.
  config::AdapterSections adapter = config.hosts[1];
  adapter.ports.resize(2);
  adapter.ports[1].port.rate = BitsPerSecond(10'000'000'000);
  config.hosts[1].adapters = {adapter};
  FlowConfig back = stream({0, 2}, {0, 2});
  std::swap(back.client, back.server);
  back.after = "there";
  config.flows = {{"there", stream({0, 2}, {0, 2})}, {"back", back}, {"other", stream({0, 1}, {0, 1}, 1)}};
  const report::Result result = runConfig(config);
  throughput(result);
  EXPECT_NEAR(result.flows[0].throughput, 9.45, 0.1);
  EXPECT_NEAR(result.flows[1].throughput, 9.45, 0.1);
  EXPECT_GT(result.flows[2].throughput, 60.0);
}

TEST(RunPorts, FaultsAndDropsNameTheirPort) {
  config::Config config = hostsWith(2, 2);
  config::AdapterSections adapter = config.hosts[0];
  adapter.ports.resize(2);
  adapter.ports[1].faults.lose = "40";
  config.hosts[0].adapters = {config.hosts[0], adapter};
  config.flows = {{"first", stream({1, 1}, {1, 1})}, {"second", stream({1, 2}, {1, 2}, 1)}};
  const report::Result result = runConfig(config);
  throughput(result);
  ASSERT_EQ(result.faults.size(), 1u);
  EXPECT_EQ(result.faults[0].adapter, AdapterIndex(1));
  EXPECT_EQ(result.faults[0].port, 2u);
  ASSERT_EQ(result.drops.size(), 1u);
  EXPECT_EQ(result.drops[0].adapter, AdapterIndex(1));
  EXPECT_EQ(result.drops[0].port, 2u);
  EXPECT_THAT(report::toJson(result),
              HasSubstr("\"adapter\": 1,\n      \"port\": 2,\n      \"reason\": \"packet_lost\""));
}

DmaConfig reads(std::uint32_t adapter, std::int64_t window) {
  DmaConfig dma;
  dma.adapter = adapter;
  dma.window = Bytes(window);
  dma.stride = Bytes(4096);
  dma.pattern = DmaPattern::kSequential;
  dma.warmup = 200;
  dma.iters = 2000;
  return dma;
}

TEST(RunPorts, AdaptersOfAHostShareItsIommu) {
  config::Config config = hostsWith(2, 1);
  config.hosts[0].iommu.enabled = true;
  const std::int64_t most = config.hosts[0].iommu.iotlbEntries;
  // Each alone would fit.
  const std::int64_t window = most * 3 / 4 * 4096;
  config.dma = {{"zero", reads(0, window)}, {"one", reads(1, window)}};
  const report::Result result = runConfig(config);
  const auto isIotlb = [](const report::CacheResult& cache) { return cache.name == "iotlb"; };
  ASSERT_EQ(std::count_if(result.caches.begin(), result.caches.end(), isIotlb), 1);
  const auto iotlb = std::find_if(result.caches.begin(), result.caches.end(), isIotlb);
  EXPECT_EQ(iotlb->adapter, std::nullopt) << "the host's";
  EXPECT_GT(iotlb->misses, 4000u);
  ASSERT_EQ(result.dma.size(), 2u);
  EXPECT_EQ(result.dma[1].adapter, AdapterIndex(1));
  EXPECT_EQ(result.dma[1].errors, 0u);
}

// The root port gives its requests to the shared translation when they arrive; alone, as soon as they are known.
TEST(RunPorts, SharingTheIommuWithAnIdleAdapterChangesNothing) {
  const auto median = [](std::uint32_t adapters) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      config::Config config = hostsWith(adapters, 1);
      config.hosts[0].iommu.enabled = true;
      config.dma = {{"reads", reads(0, 1 << 24)}};
      config.dma[0].dma.inFlight = 16;
      config.dma[0].dma.size = Bytes(2048);
      const report::DmaResult result = runConfig(config).dma.at(0);
      const std::int64_t figures[] = {result.latency.p50.count(), result.latency.maximum.count(),
                                      result.measured.count()};
      _exit(write(ends[1], figures, sizeof figures) == sizeof figures ? 0 : 1);
    }
    std::array<std::int64_t, 3> figures{};
    EXPECT_EQ(read(ends[0], figures.data(), sizeof figures), static_cast<ssize_t>(sizeof figures));
    waitpid(child, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
    return figures;
  };
  const auto alone = median(1);
  EXPECT_GT(alone[0], 0);
  EXPECT_EQ(median(2), alone);
}

TEST(RunPorts, CompletionLinesNameTheAdapterWhereThereIsMoreThanOne) {
  config::Config config = hostsWith(2, 1);
  config.flows = {{"a", stream({1, 1}, {1, 1})}};
  config.flows[0].flow.iters = 1;
  config.flows[0].flow.warmup = 0;
  std::ostringstream lines;
  Simulation::Options options;
  options.completions = &lines;
  EXPECT_FALSE(Simulation(config, options).run().failed());
  EXPECT_THAT(lines.str(), HasSubstr("time_ns,flow,host,adapter,cqn,"));
  EXPECT_THAT(lines.str(), HasSubstr(",a,0,1,"));
}

}  // namespace
}  // namespace hca::sim

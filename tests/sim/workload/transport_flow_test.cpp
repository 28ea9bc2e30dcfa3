// Flows of reads and atomics, and of the unreliable services, against the real adapters.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/sim/workload/flow_run.h"

namespace hca::test {
namespace {

using sim::FlowConfig;
using sim::FlowKind;
using sim::FlowTransport;
using sim::FlowVerb;

FlowConfig makeFlow(FlowKind kind, FlowVerb verb, std::int64_t size, FlowTransport transport = FlowTransport::kRc) {
  FlowConfig flow;
  flow.kind = kind;
  flow.verb = verb;
  flow.transport = transport;
  flow.size = Bytes(size);
  flow.iters = 200;
  flow.warmup = 10;
  flow.tx_depth = 32;
  flow.rx_depth = 512;
  flow.server_core = 1;
  return flow;
}

/// Adds `flow` behind the flows that are there.
void expectAllClean(FlowRun& run) {
  for (std::size_t index = 0; index < run.workload().flows().size(); ++index) {
    SCOPED_TRACE(index);
    const sim::Flow& flow = run.flow(index);
    EXPECT_EQ(flow.problem(), "");
    const report::FlowResult result = run.workload().results()[index];
    EXPECT_EQ(result.iterations, std::uint64_t{flow.config().iters} * flow.config().qps);
    EXPECT_EQ(result.errors, 0U);
    EXPECT_EQ(flow.corrupted(), 0U);
  }
}

TEST(TransportFlow, ReadsBringTheirContent) {
  FlowRun run;
  for (const FlowKind kind : {FlowKind::kLatency, FlowKind::kBandwidth}) {
    for (const std::int64_t size : {0, 4, 64, 4096, 4097, 20'000}) run.append(makeFlow(kind, FlowVerb::kRead, size));
  }
  FlowConfig many = makeFlow(FlowKind::kBandwidth, FlowVerb::kRead, 64);
  many.qps = 8;
  many.cq_mod = 5;
  run.append(many);
  ASSERT_TRUE(run.run()) << run.problem();
  expectAllClean(run);
}

TEST(TransportFlow, AtomicsCount) {
  FlowRun run;
  for (const FlowVerb verb : {FlowVerb::kFetchAdd, FlowVerb::kCompareSwap}) {
    run.append(makeFlow(FlowKind::kLatency, verb, 8));
    FlowConfig many = makeFlow(FlowKind::kBandwidth, verb, 8);
    many.qps = 4;
    run.append(many);
  }
  ASSERT_TRUE(run.run()) << run.problem();
  expectAllClean(run);
}

// Every access of every stage misses now and then; what is sent and received stays the same.
TEST(TransportFlow, TinyCachesOfTheAdapterChangeNoContent) {
  FlowRun run([](config::Config& config) {
    adapter::HcaConfig& adapter = config.allHosts.adapter;
    adapter.cache.qpContextEntries = 2;
    adapter.cache.cqContextEntries = 1;
    adapter.cache.memoryKeyEntries = 1;
    adapter.cache.translationEntries = 2;
    adapter.cache.workRequestEntries = 4;
    adapter.cache.refills = 2;
    adapter.transport.processingUnits = 2;
  });
  const auto add = [&](FlowVerb verb, std::int64_t size, FlowTransport transport = FlowTransport::kRc) {
    FlowConfig flow = makeFlow(FlowKind::kBandwidth, verb, size, transport);
    flow.qps = 4;
    flow.shared_cq = false;
    run.append(flow);
  };
  for (const FlowVerb verb : {FlowVerb::kWrite, FlowVerb::kWriteImmediate, FlowVerb::kSend, FlowVerb::kRead}) {
    for (const std::int64_t size : {4, 64, 20'000}) add(verb, size);
  }
  add(FlowVerb::kFetchAdd, 8);
  add(FlowVerb::kWrite, 20'000, FlowTransport::kUc);
  add(FlowVerb::kSend, 1000, FlowTransport::kUd);
  run.append(makeFlow(FlowKind::kLatency, FlowVerb::kSend, 64));
  ASSERT_TRUE(run.run()) << run.problem();
  expectAllClean(run);
  using Object = adapter::CachedObject;
  const auto misses = [&](std::size_t host, Object what) {
    return run.system().host(host).adapter().hca().caches().counters(what).value().misses;
  };
  // More than it has room for: entries were thrown out and came back.
  for (const Object what : {Object::kQpContext, Object::kCqContext, Object::kMemoryKey, Object::kTranslation}) {
    EXPECT_GT(misses(0, what), 10u) << static_cast<int>(what);
    EXPECT_GT(misses(1, what), 10u) << static_cast<int>(what);
  }
  EXPECT_GT(misses(0, Object::kWorkRequest), 10u);
}

TEST(TransportFlow, WrongWordAtTheServerIsSeen) {
  FlowRun run;
  run.append(makeFlow(FlowKind::kLatency, FlowVerb::kFetchAdd, 8));
  ASSERT_TRUE(run.run()) << run.problem();
  const sim::FlowEndpoint& server = run.flow(0).serverSide();
  std::uint8_t* word = server.bytes(server.receiveAddress(0, 0));
  std::uint64_t value = 0;
  std::memcpy(&value, word, sizeof value);
  EXPECT_EQ(value, 210U);
  ++*word;
  EXPECT_EQ(run.workload().results().size(), 1U);  // which checks the word
  EXPECT_EQ(run.flow(0).corrupted(), 1U);
}

TEST(TransportFlow, ReadLatencyIsAWholeRoundTrip) {
  FlowRun run;
  run.append(makeFlow(FlowKind::kLatency, FlowVerb::kWrite, 8));
  run.append(makeFlow(FlowKind::kLatency, FlowVerb::kRead, 8));
  ASSERT_TRUE(run.run()) << run.problem();
  const auto results = run.workload().results();
  EXPECT_EQ(results[0].latencyKind, report::LatencyKind::kHalfRoundTrip);
  EXPECT_EQ(results[1].latencyKind, report::LatencyKind::kPostToCompletion);
  EXPECT_EQ(results[1].latency.samples, 200U);
  EXPECT_GT(results[1].latency.p50, results[0].latency.p50);
  EXPECT_LT(results[1].latency.p50.count(), 3 * results[0].latency.p50.count());
}

TEST(TransportFlow, ReadLatencyByDurationAndByEvent) {
  FlowRun run;
  FlowConfig flow = makeFlow(FlowKind::kLatency, FlowVerb::kRead, 8);
  flow.iters = 0;
  flow.duration = microseconds(100);
  run.append(flow);
  FlowConfig sleeping = makeFlow(FlowKind::kLatency, FlowVerb::kRead, 8);
  sleeping.events = sim::EventOrder::kSafe;
  run.append(sleeping);
  ASSERT_TRUE(run.run()) << run.problem();
  const auto results = run.workload().results();
  EXPECT_GE(results[0].measured, microseconds(100));
  EXPECT_LT(results[0].measured, microseconds(110));
  EXPECT_EQ(results[1].iterations, 200U);
  EXPECT_GT(results[1].latency.p50, results[0].latency.p50);
}

TEST(TransportFlow, UnreliableConnectionDeliversWritesAndSends) {
  FlowRun run;
  for (const FlowKind kind : {FlowKind::kLatency, FlowKind::kBandwidth}) {
    for (const FlowVerb verb : {FlowVerb::kWrite, FlowVerb::kSend, FlowVerb::kSendImmediate}) {
      for (const std::int64_t size : {4, 64, 9000}) run.append(makeFlow(kind, verb, size, FlowTransport::kUc));
    }
  }
  ASSERT_TRUE(run.run()) << run.problem();
  expectAllClean(run);
}

TEST(TransportFlow, DatagramsArriveBehindTheirHeader) {
  FlowRun run;
  for (const FlowKind kind : {FlowKind::kLatency, FlowKind::kBandwidth}) {
    for (const FlowVerb verb : {FlowVerb::kSend, FlowVerb::kSendImmediate}) {
      for (const std::int64_t size : {4, 64, 4096}) run.append(makeFlow(kind, verb, size, FlowTransport::kUd));
    }
  }
  FlowConfig many = makeFlow(FlowKind::kBandwidth, FlowVerb::kSend, 64, FlowTransport::kUd);
  many.qps = 4;
  run.append(many);
  ASSERT_TRUE(run.run()) << run.problem();
  expectAllClean(run);
}

// One receive for a window of messages: most find none. The flow ends all the same, and what came is intact.
TEST(TransportFlow, DatagramsWithoutAReceiveAreLost) {
  FlowRun run;
  FlowConfig flow = makeFlow(FlowKind::kBandwidth, FlowVerb::kSend, 64, FlowTransport::kUd);
  flow.rx_depth = 1;
  run.append(flow);
  run.append(makeFlow(FlowKind::kBandwidth, FlowVerb::kWrite, 64));  // the cores are free again
  ASSERT_TRUE(run.run()) << run.problem();
  expectAllClean(run);
  EXPECT_GT(run.system().host(1).adapter().hca().responder().unreliableDrops(), 0U);
}

TEST(TransportFlow, TheSenderOfASendWithoutReceiveWaitsAsTold) {
  FlowRun run;
  FlowConfig flow = makeFlow(FlowKind::kBandwidth, FlowVerb::kSend, 64);
  flow.warmup = 0;
  flow.iters = 20;
  flow.rx_depth = 1;
  flow.min_rnr_timer = 1;
  run.append(flow);
  flow.min_rnr_timer = 12;
  run.append(flow);
  ASSERT_TRUE(run.run()) << run.problem();
  expectAllClean(run);
  const auto results = run.workload().results();
  EXPECT_GT(results[0].latency.maximum, microseconds(10));
  EXPECT_LT(results[0].latency.maximum, microseconds(640));
  EXPECT_GT(results[1].latency.maximum, microseconds(640));
}

TEST(TransportFlow, WithinOneHostNothingUsesTheLink) {
  FlowRun run;
  for (const FlowTransport transport : {FlowTransport::kRc, FlowTransport::kUc, FlowTransport::kUd}) {
    FlowConfig flow = makeFlow(FlowKind::kLatency, FlowVerb::kSend, 64, transport);
    flow.server = 0;
    run.append(flow);
  }
  FlowConfig writes = makeFlow(FlowKind::kBandwidth, FlowVerb::kWrite, 4096);
  writes.server = 0;
  run.append(writes);
  ASSERT_TRUE(run.run()) << run.problem();
  expectAllClean(run);
  EXPECT_EQ(run.system().cabling().sent(0).packets, 0U);
  EXPECT_EQ(run.system().cabling().sent(1).packets, 0U);
}

TEST(TransportFlow, RoceCarriesEveryService) {
  FlowRun run([](config::Config& config) { config.link.layer = network::LinkLayer::kRoceV2; });
  run.append(makeFlow(FlowKind::kLatency, FlowVerb::kWrite, 64));
  run.append(makeFlow(FlowKind::kBandwidth, FlowVerb::kRead, 5000));
  run.append(makeFlow(FlowKind::kBandwidth, FlowVerb::kSend, 5000, FlowTransport::kUc));
  run.append(makeFlow(FlowKind::kLatency, FlowVerb::kSend, 64, FlowTransport::kUd));
  FlowConfig own = makeFlow(FlowKind::kLatency, FlowVerb::kSend, 64);
  own.server = 0;
  run.append(own);
  ASSERT_TRUE(run.run()) << run.problem();
  expectAllClean(run);
  EXPECT_NE(run.system().cabling().sent(0).packets, 0U);
  EXPECT_NE(run.system().host(0).adapter().hca().loopback().packets(), 0U);
}

TEST(TransportFlow, RoceGoesThroughTheSwitch) {
  FlowRun run([](config::Config& config) {
    config.host.count = 3;
    config.link.layer = network::LinkLayer::kRoceV2;
  });
  FlowConfig flow = makeFlow(FlowKind::kLatency, FlowVerb::kWrite, 64);
  flow.server = 2;
  run.append(flow);
  ASSERT_TRUE(run.run()) << run.problem();
  expectAllClean(run);
}

// Fewer receives than requests that may be under way: the queue runs empty now and then.
TEST(TransportFlow, QueuePairsShareOneReceiveQueue) {
  FlowRun run;
  for (const FlowVerb verb : {FlowVerb::kSend, FlowVerb::kSendImmediate, FlowVerb::kWriteImmediate}) {
    for (const bool sharedCq : {true, false}) {
      FlowConfig flow = makeFlow(FlowKind::kBandwidth, verb, 5000);
      flow.qps = 4;
      flow.srq = true;
      flow.rx_depth = 100;
      flow.shared_cq = sharedCq;
      flow.min_rnr_timer = 1;
      run.append(flow);
    }
  }
  FlowConfig datagrams = makeFlow(FlowKind::kBandwidth, FlowVerb::kSend, 64, FlowTransport::kUd);
  datagrams.qps = 3;
  datagrams.srq = true;
  run.append(datagrams);
  ASSERT_TRUE(run.run()) << run.problem();
  expectAllClean(run);
}

}  // namespace
}  // namespace hca::test

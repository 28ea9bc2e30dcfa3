#include "sim/workload/flow_rules.h"

#include <gtest/gtest.h>

#include "sim/workload/client_hosts.h"

namespace hca::sim {
namespace {

FlowConfig flow(FlowKind kind) {
  FlowConfig config;
  config.kind = kind;
  config.verb = FlowVerb::kSend;
  config.iters = 10;
  return config;
}

std::string firstKey(const FlowConfig& config) {
  const auto problems = flowProblems(config);
  return problems.empty() ? "" : problems.front().key;
}

TEST(FlowRules, PlainFlowsHaveNone) {
  EXPECT_EQ(firstKey(flow(FlowKind::kLatency)), "");
  EXPECT_EQ(firstKey(flow(FlowKind::kBandwidth)), "");
  FlowConfig race = flow(FlowKind::kArmRace);
  race.events = EventOrder::kUnsafe;
  EXPECT_EQ(firstKey(race), "");
}

TEST(FlowRules, ManyQueuePairsAreForBandwidth) {
  FlowConfig config = flow(FlowKind::kBandwidth);
  config.qps = 2;
  EXPECT_EQ(firstKey(config), "");
  config.kind = FlowKind::kLatency;
  EXPECT_EQ(firstKey(config), "qps");
}

TEST(FlowRules, ResizesAreForBandwidth) {
  FlowConfig config = flow(FlowKind::kBandwidth);
  config.resize_to = 100;
  EXPECT_EQ(firstKey(config), "");
  config.kind = FlowKind::kLatency;
  EXPECT_EQ(firstKey(config), "resize_to");
}

TEST(FlowRules, SizesAndArrivalsThatFitTogether) {
  FlowConfig config = flow(FlowKind::kBandwidth);
  config.size = Bytes(100);
  config.size_distribution = SizeDistribution::kMix;
  EXPECT_EQ(firstKey(config), "size_mix");
  config.size_mix = "64B:1,101B:1";
  EXPECT_EQ(firstKey(config), "size_mix");
  config.size_mix = "64B:1,100B:1";
  EXPECT_EQ(firstKey(config), "");
  config.kind = FlowKind::kLatency;
  EXPECT_EQ(firstKey(config), "size_distribution");
  config.kind = FlowKind::kBandwidth;
  config.size_distribution = SizeDistribution::kLogNormal;
  EXPECT_EQ(firstKey(config), "size_median");
  config.size_median = Bytes(10);
  config.size_min = Bytes(101);
  EXPECT_EQ(firstKey(config), "size_min");

  config = flow(FlowKind::kBandwidth);
  config.arrival = ArrivalKind::kPoisson;
  EXPECT_EQ(firstKey(config), "rate");
  config.rate = 1000;
  EXPECT_EQ(firstKey(config), "");
  config.events = EventOrder::kSafe;
  EXPECT_EQ(firstKey(config), "events");
  config.events = EventOrder::kOff;
  config.cq_mod = 2;
  EXPECT_EQ(firstKey(config), "cq_mod");
  config.cq_mod = 1;
  config.arrival = ArrivalKind::kClosed;
  EXPECT_EQ(firstKey(config), "rate");
}

TEST(FlowRules, MixedVerbsHaveToFitAlike) {
  FlowConfig config = flow(FlowKind::kBandwidth);
  config.verb_mix = "write:70, read:20, send:10, fetch_add";
  EXPECT_EQ(firstKey(config), "");
  config.srq = true;
  EXPECT_EQ(firstKey(config), "");
  config.verb_mix = "write:70, read:30";
  EXPECT_EQ(firstKey(config), "srq") << "although verb = send would receive";
  config.srq = false;
  config.transport = FlowTransport::kUc;
  EXPECT_EQ(firstKey(config), "verb_mix");
  config.verb_mix = "write:70, send:30";
  EXPECT_EQ(firstKey(config), "");
  config.transport = FlowTransport::kUd;
  EXPECT_EQ(firstKey(config), "verb_mix");
  config.transport = FlowTransport::kRc;
  config.kind = FlowKind::kLatency;
  EXPECT_EQ(firstKey(config), "verb_mix");
  for (const char* text : {"write:0", "put:1", "write:70 read:30", ",", "write:"}) {
    config = flow(FlowKind::kBandwidth);
    config.verb_mix = text;
    EXPECT_EQ(firstKey(config), "verb_mix") << text;
  }
}

TEST(FlowRules, LatencyOfAnEmptyWriteHasNothingToWaitFor) {
  FlowConfig config = flow(FlowKind::kLatency);
  config.size = Bytes(0);
  EXPECT_EQ(firstKey(config), "");
  config.verb = FlowVerb::kWrite;
  EXPECT_EQ(firstKey(config), "size");
}

TEST(FlowRules, ReadsAndAtomicsNeedAReliableConnection) {
  for (const FlowVerb verb : {FlowVerb::kRead, FlowVerb::kFetchAdd, FlowVerb::kCompareSwap}) {
    FlowConfig config = flow(FlowKind::kLatency);
    config.verb = verb;
    config.size = Bytes(8);
    EXPECT_EQ(firstKey(config), "");
    config.transport = FlowTransport::kUc;
    EXPECT_EQ(firstKey(config), "verb");
    config.transport = FlowTransport::kUd;
    EXPECT_EQ(firstKey(config), "verb");
  }
}

TEST(FlowRules, AtomicsAreOfEightBytes) {
  FlowConfig config = flow(FlowKind::kBandwidth);
  config.verb = FlowVerb::kFetchAdd;
  config.size = Bytes(8);
  EXPECT_EQ(firstKey(config), "");
  config.size = Bytes(9);
  EXPECT_EQ(firstKey(config), "size");
  config.size = Bytes(7);
  EXPECT_EQ(firstKey(config), "size");
}

TEST(FlowRules, LatencyOfAReadNeedsEveryCompletion) {
  FlowConfig config = flow(FlowKind::kLatency);
  config.cq_mod = 2;
  EXPECT_EQ(firstKey(config), "");
  config.verb = FlowVerb::kRead;
  EXPECT_EQ(firstKey(config), "cq_mod");
  config.kind = FlowKind::kBandwidth;
  EXPECT_EQ(firstKey(config), "");
}

TEST(FlowRules, DatagramsAreSendsOfOnePacket) {
  FlowConfig config = flow(FlowKind::kBandwidth);
  config.transport = FlowTransport::kUd;
  config.mtu = Bytes(1024);
  config.size = Bytes(1024);
  EXPECT_EQ(firstKey(config), "");
  config.size = Bytes(1025);
  EXPECT_EQ(firstKey(config), "size");
  config.size = Bytes(64);
  config.verb = FlowVerb::kWrite;
  EXPECT_EQ(firstKey(config), "verb");
  config.verb = FlowVerb::kWriteImmediate;
  EXPECT_EQ(firstKey(config), "verb");
}

TEST(FlowRules, SolicitedNowAndThen) {
  FlowConfig config = flow(FlowKind::kBandwidth);
  config.solicited = true;
  config.rx_depth = 16;
  config.solicited_every = 16;
  EXPECT_EQ(firstKey(config), "");
  config.solicited_every = 17;
  EXPECT_EQ(firstKey(config), "solicited_every");
  config.solicited_every = 2;
  config.solicited = false;
  EXPECT_EQ(firstKey(config), "solicited_every");
  config.solicited = true;
  config.kind = FlowKind::kLatency;
  EXPECT_EQ(firstKey(config), "solicited_every");
}

TEST(FlowRules, PollingBeforeAnEventIsForFlowsThatWaitForNothingElse) {
  for (const EventOrder order : {EventOrder::kAdaptive, EventOrder::kTurns}) {
    FlowConfig config = flow(FlowKind::kArmRace);
    config.events = order;
    EXPECT_EQ(firstKey(config), "events") << "nobody would know when the race is";
    config = flow(FlowKind::kBandwidth);
    config.events = order;
    EXPECT_EQ(firstKey(config), "");
    config.arrival = ArrivalKind::kFixed;
    config.rate = 1000;
    EXPECT_EQ(firstKey(config), "events");
  }
}

TEST(FlowRules, ClientsAreAListOfHosts) {
  EXPECT_EQ(parseClientHosts("3, 1 , 5-7").hosts, (std::vector<std::uint32_t>{3, 1, 5, 6, 7}));
  EXPECT_EQ(parseClientHosts("0-1023").hosts.size(), 1024U);
  for (const char* text : {"", "1,", "7-5", "1-", "-1", "one", "1 2", "1024", "3-1024", "1;2", "0x1"}) {
    EXPECT_NE(parseClientHosts(text).problem, "") << text;
  }
  EXPECT_EQ(parseClientHosts("1-3, 2").problem, "names host 2 twice");
  FlowConfig config = flow(FlowKind::kLatency);
  config.client = 9;
  EXPECT_EQ(clientHostsOf(config), (std::vector<std::uint32_t>{9}));
  config.clients = "1-2";
  EXPECT_EQ(firstKey(config), "");
  EXPECT_EQ(clientHostsOf(config), (std::vector<std::uint32_t>{1, 2}));
  config.clients = "1-2, 2";
  EXPECT_EQ(firstKey(config), "clients");
  config = flow(FlowKind::kArmRace);
  config.events = EventOrder::kSafe;
  config.clients = "1-2";
  EXPECT_EQ(firstKey(config), "clients");
}

TEST(FlowRules, XrcIsReliableAndHasSharedQueues) {
  FlowConfig config = flow(FlowKind::kBandwidth);
  config.transport = FlowTransport::kXrc;
  config.verb = FlowVerb::kRead;
  EXPECT_EQ(firstKey(config), "");
  config.verb = FlowVerb::kSend;
  config.xrc_srqs = 3;
  EXPECT_EQ(firstKey(config), "");
  config.shared_cq = false;
  EXPECT_EQ(firstKey(config), "xrc_srqs");
  config.xrc_srqs = 1;
  EXPECT_EQ(firstKey(config), "");
  config.srq = true;
  EXPECT_EQ(firstKey(config), "srq");
  config = flow(FlowKind::kLatency);
  config.transport = FlowTransport::kXrc;
  EXPECT_EQ(firstKey(config), "");
  config.xrc_srqs = 2;
  EXPECT_EQ(firstKey(config), "xrc_srqs");
}

TEST(FlowRules, RaceIsForReliableConnections) {
  FlowConfig config = flow(FlowKind::kArmRace);
  config.events = EventOrder::kSafe;
  EXPECT_EQ(firstKey(config), "");
  config.transport = FlowTransport::kUc;
  EXPECT_EQ(firstKey(config), "transport");
}

TEST(FlowRules, RaceNeedsCompletionsEventsAndACount) {
  FlowConfig config = flow(FlowKind::kArmRace);
  EXPECT_EQ(firstKey(config), "events");
  config.events = EventOrder::kSafe;
  config.verb = FlowVerb::kWrite;
  EXPECT_EQ(firstKey(config), "verb");
  config.verb = FlowVerb::kWriteImmediate;
  config.iters = 0;
  EXPECT_EQ(firstKey(config), "iters");
}

TEST(FlowRules, SharedReceivesAreForBandwidthThatReceives) {
  FlowConfig config = flow(FlowKind::kBandwidth);
  config.srq = true;
  EXPECT_EQ(firstKey(config), "");
  config.verb = FlowVerb::kWrite;
  EXPECT_EQ(firstKey(config), "srq");
  config = flow(FlowKind::kLatency);
  config.srq = true;
  EXPECT_EQ(firstKey(config), "srq");
}

}  // namespace
}  // namespace hca::sim

// Ethernet frames from queue to queue: rules, VLAN tags, checksums, what the completion tells.
#include <gtest/gtest.h>

#include <algorithm>

#include "models/network/crc.h"
#include "models/wire/ethernet_commands.h"
#include "tests/models/adapter/transport/rc_pair.h"
#include "tests/support/hex_bytes.h"

namespace hca::adapter::test {
namespace {

using hca::test::hexBytes;

const char* const kAddresses = "02 00 00 00 00 02 02 00 00 00 00 01";
const char* const kTag = "81 00 60 05";  // priority 3, VLAN 5
// UDP from 10.0.0.1:1 to 10.0.0.2:2 with 4 bytes; both checksums are right.
const char* const kDatagram =
    "08 00 45 00 00 20 00 00 40 00 40 11 26 cb 0a 00 00 01 0a 00 00 02 00 01 00 02 00 0c 27 0a 61 62 63 64";

std::vector<std::uint8_t> plainFrame() { return hexBytes(std::string(kAddresses) + kDatagram); }
std::vector<std::uint8_t> taggedFrame() { return hexBytes(std::string(kAddresses) + kTag + kDatagram); }

using wire::FlowMatch;

template <class Field>
void match(FlowRule& rule, std::uint32_t value) {
  Field::set({rule.mask.data(), rule.mask.size()}, static_cast<typename Field::Value>(Field::kMax));
  Field::set({rule.value.data(), rule.value.size()}, static_cast<typename Field::Value>(value));
}

FlowRule ruleFor(QpNumber queue, std::uint32_t tag) {
  FlowTarget target;
  target.queues = std::make_shared<std::vector<QpNumber>>(1, queue);
  FlowRule rule;
  match<FlowMatch::DestinationHigh>(rule, 0x02000000);
  match<FlowMatch::DestinationLow>(rule, 0x0002);
  rule.targets = {std::make_shared<FlowTarget>(target)};
  rule.flowTag = tag;
  return rule;
}

class RawPacket : public testing::Test {
 protected:
  void steer(const FlowRule& rule) { ASSERT_TRUE(pair.b.table.addFlow(rule, name).ok()); }
  void strip() { pair.b.table.find(pair.qpB)->attributes.stripVlan = true; }
  /// Sends `frame`, of which the WQE holds the first `inWqe` bytes.
  void send(const std::vector<std::uint8_t>& frame, std::size_t inWqe = 14, std::uint32_t checksums = 0) {
    std::copy(frame.begin() + static_cast<std::ptrdiff_t>(inWqe), frame.end(),
              pair.a.memory.bytes.begin() + RcPair::kData);
    const std::size_t ethernet = (std::max<std::size_t>(16, 14 + inWqe) + 15) / 16 * 16;
    const bool more = frame.size() > inWqe;
    std::vector<std::uint8_t> wqe;
    RcPair::put(wqe, (pair.sendIndex & 0xFFFF) << 8 | 0x0A, 4);
    RcPair::put(wqe, std::uint64_t{pair.qpA.value()} << 8 | (1 + ethernet / 16 + (more ? 1 : 0)), 4);
    RcPair::put(wqe, 0x08, 4);
    RcPair::put(wqe, 0, 4);
    RcPair::put(wqe, 0, 4);
    RcPair::put(wqe, std::uint64_t{checksums} << 24, 4);
    RcPair::put(wqe, 0, 4);
    RcPair::put(wqe, inWqe, 2);
    wqe.insert(wqe.end(), frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(inWqe));
    wqe.resize(16 + ethernet);
    if (more) {
      RcPair::put(wqe, frame.size() - inWqe, 4);
      RcPair::put(wqe, PlainTranslator::kKey, 4);
      RcPair::put(wqe, RcPair::kData, 8);
    }
    pair.putWqe(wqe);
    pair.ring();
    pair.run();
  }
  [[nodiscard]] std::vector<std::uint8_t> received(std::size_t length) const {
    const auto from = pair.b.memory.bytes.begin() + RcPair::kData;
    return {from, from + static_cast<std::ptrdiff_t>(length)};
  }
  std::uint64_t name = 0;
  RcPair pair{0, QpService::kRaw};
};

TEST_F(RawPacket, ARuleGivesTheFrameItsQueueAndItsTag) {
  steer(ruleFor(pair.qpB, 0xABCDEF));
  pair.postReceive(2048);
  send(plainFrame());
  EXPECT_EQ(received(plainFrame().size()), plainFrame());
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].opcode, CqeOpcode::kRequester);
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  const CompletionRecord& record = pair.b.completions.records[0];
  EXPECT_EQ(record.opcode, CqeOpcode::kResponderSend);
  EXPECT_EQ(record.byteCount, plainFrame().size());
  ASSERT_TRUE(record.frame.has_value());
  EXPECT_EQ(record.frame->flowTag, 0xABCDEFu);
  EXPECT_FALSE(record.frame->hadVlan);
  EXPECT_TRUE(record.frame->networkOk);
  EXPECT_TRUE(record.frame->transportOk);
}

TEST_F(RawPacket, TheWqeMayHoldAnyPartOfTheFrame) {
  steer(ruleFor(pair.qpB, 1));
  for (const std::size_t inWqe : {0U, 2U, 18U, 46U, 48U}) {
    pair.postReceive(2048);
    send(plainFrame(), std::min<std::size_t>(inWqe, plainFrame().size()));
    EXPECT_EQ(received(plainFrame().size()), plainFrame()) << inWqe;
    std::fill_n(pair.b.memory.bytes.begin() + RcPair::kData, 64, std::uint8_t{0});
  }
  EXPECT_EQ(pair.b.completions.records.size(), 5u);
}

TEST_F(RawPacket, TheTagLeavesTheFrameForTheCompletion) {
  steer(ruleFor(pair.qpB, 1));
  strip();
  pair.postReceive(2048);
  send(taggedFrame(), 18);
  EXPECT_EQ(received(plainFrame().size()), plainFrame()) << "without its tag";
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  const CompletionRecord& record = pair.b.completions.records[0];
  EXPECT_EQ(record.byteCount, plainFrame().size());
  EXPECT_TRUE(record.frame->hadVlan);
  EXPECT_EQ(record.frame->vlan, 0x6005);
  EXPECT_TRUE(record.frame->transportOk);
}

TEST_F(RawPacket, TheTagStaysWhereTheQueueDoesNotTakeItOut) {
  steer(ruleFor(pair.qpB, 1));
  pair.postReceive(2048);
  send(taggedFrame(), 18);
  EXPECT_EQ(received(taggedFrame().size()), taggedFrame());
  EXPECT_FALSE(pair.b.completions.records[0].frame->hadVlan);
  EXPECT_TRUE(pair.b.completions.records[0].frame->networkOk) << "behind the tag";
}

TEST_F(RawPacket, WrongChecksumsAreTold) {
  steer(ruleFor(pair.qpB, 1));
  std::vector<std::uint8_t> frame = plainFrame();
  frame.back() ^= 1;
  pair.postReceive(2048);
  send(frame);
  EXPECT_TRUE(pair.b.completions.records[0].frame->networkOk);
  EXPECT_FALSE(pair.b.completions.records[0].frame->transportOk);
  frame = plainFrame();
  frame[14 + 8] ^= 1;  // time to live
  pair.postReceive(2048);
  send(frame);
  EXPECT_FALSE(pair.b.completions.records[1].frame->networkOk);
  EXPECT_TRUE(pair.b.completions.records[1].frame->transportOk);
}

TEST_F(RawPacket, WhatNoRuleWantsIsDroppedAndCounted) {
  FlowRule rule = ruleFor(pair.qpB, 1);
  match<FlowMatch::Vlan>(rule, 6);
  steer(rule);
  pair.postReceive(2048);
  send(plainFrame());
  send(taggedFrame(), 18);
  EXPECT_TRUE(pair.b.completions.records.empty());
  EXPECT_EQ(pair.b.dispatcher.drops().noFlowRule, 2u);
  match<FlowMatch::Vlan>(rule, 5);
  steer(rule);
  send(taggedFrame(), 18);
  EXPECT_EQ(pair.b.completions.records.size(), 1u);
}

TEST_F(RawPacket, TheFirstRuleThatFitsCounts) {
  FlowRule other = ruleFor(pair.qpB, 7);
  match<FlowMatch::Type>(other, 0x86DD);
  steer(other);
  steer(ruleFor(pair.qpB, 8));
  steer(ruleFor(pair.qpB, 9));
  pair.postReceive(2048);
  send(plainFrame());
  EXPECT_EQ(pair.b.completions.records[0].frame->flowTag, 8u);
}

TEST_F(RawPacket, FramesHaveAHeaderAndALimit) {
  send(std::vector<std::uint8_t>(13), 13);
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kLocalLength);
  EXPECT_EQ(pair.a.wire.sent, 0);
}

TEST_F(RawPacket, TheAdapterInsertsChecksums) {
  steer(ruleFor(pair.qpB, 1));
  std::vector<std::uint8_t> frame = taggedFrame();
  for (const std::size_t place : {28U, 29U, 44U, 45U}) frame[place] = 0;
  pair.postReceive(2048);
  send(frame, 18, 0xC0);
  EXPECT_EQ(received(frame.size()), taggedFrame());
  pair.postReceive(2048);
  send(frame, 18, 0x40);
  EXPECT_TRUE(pair.b.completions.records[1].frame->networkOk);
  EXPECT_EQ(received(frame.size())[44], 0) << "of the transport header none was asked for";
}

TEST_F(RawPacket, TheFrameCheckSequenceStaysOnDemand) {
  steer(ruleFor(pair.qpB, 1));
  ASSERT_TRUE(pair.b.table.setFrameOptions(pair.qpB, false, true).ok());
  pair.postReceive(2048);
  send(plainFrame());
  const std::size_t length = plainFrame().size();
  EXPECT_EQ(pair.b.completions.records[0].byteCount, length + 4);
  const std::vector<std::uint8_t> whole = received(length + 4);
  EXPECT_TRUE(std::equal(whole.begin(), whole.end() - 4, plainFrame().begin()));
  network::InvariantCrc crc;
  crc.add({whole.data(), whole.size()});
  EXPECT_EQ(crc.value(), 0x2144DF1Cu) << "of a frame with its right sequence (IEEE 802.3)";
}

TEST_F(RawPacket, ARuleWithoutTargetsDrops) {
  FlowRule rule = ruleFor(pair.qpB, 1);
  rule.targets.clear();
  rule.order = 1;
  steer(rule);
  rule = ruleFor(pair.qpB, 2);
  rule.order = 2;
  steer(rule);
  pair.postReceive(2048);
  send(plainFrame());
  EXPECT_TRUE(pair.b.completions.records.empty());
}

TEST_F(RawPacket, ARuleMayLetTheFrameGoOn) {
  FlowRule rule = ruleFor(pair.qpB, 1);
  rule.continues = true;
  steer(rule);
  steer(ruleFor(pair.qpB, 2));
  steer(ruleFor(pair.qpB, 3));
  pair.postReceive(2048);
  pair.postReceive(2048);
  pair.postReceive(2048);
  send(plainFrame());
  ASSERT_EQ(pair.b.completions.records.size(), 2u);
  EXPECT_EQ(pair.b.completions.records[0].frame->flowTag, 1u);
  EXPECT_EQ(pair.b.completions.records[1].frame->flowTag, 2u);
}

TEST_F(RawPacket, TheHashChoosesAmongTheQueuesAndIsTold) {
  FlowRule rule = ruleFor(pair.qpB, 1);
  FlowTarget target = *rule.targets[0];
  target.hash.function = ReceiveHash::Function::kToeplitz;
  target.hash.fields = ReceiveHash::kSource;
  for (std::size_t i = 0; i < target.hash.key.size(); ++i) target.hash.key[i] = static_cast<std::uint8_t>(37 * i + 11);
  const std::uint32_t hash = target.hash.of(network::readFrame(plainFrame())).value;
  auto queues = std::make_shared<std::vector<QpNumber>>(4, QpNumber(999));
  (*queues)[hash & 3] = pair.qpB;
  target.queues = queues;
  rule.targets[0] = std::make_shared<FlowTarget>(target);
  pair.postReceive(2048);
  EXPECT_EQ(pair.b.table.addFlow(rule, name).syndrome, Syndrome::kUnknownQp) << "of queues that are not there";
  const QpNumber other = pair.create(pair.b, QpService::kRaw);
  for (QpNumber& each : *queues) each = each == pair.qpB ? each : other;
  steer(rule);
  send(plainFrame());
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.completions.records[0].qp, pair.qpB);
  EXPECT_EQ(pair.b.completions.records[0].frame->rssHash, hash);
  EXPECT_EQ(pair.b.completions.records[0].frame->rssHashType, 0x04);
}

// What a queue of the same port wants comes back, unless it is of the sender's own transport domain.
TEST_F(RawPacket, ThePortSeesWhatItSends) {
  FlowRule rule = ruleFor(pair.qpA, 5);
  FlowTarget target = *rule.targets[0];
  target.domain = TransportDomainNumber(7);
  rule.targets[0] = std::make_shared<FlowTarget>(target);
  std::uint64_t own = 0;
  ASSERT_TRUE(pair.a.table.addFlow(rule, own).ok());
  steer(ruleFor(pair.qpB, 1));
  pair.postReceiveAt(pair.a, 2048, RcPair::kData, PlainTranslator::kKey);
  pair.receiveIndex = 0;  // of the other side
  pair.postReceive(2048);
  pair.a.table.find(pair.qpA)->attributes.transportDomain = 7;
  send(plainFrame());
  EXPECT_EQ(pair.b.completions.records.size(), 1u) << "of its own domain: it leaves";
  pair.a.table.find(pair.qpA)->attributes.transportDomain = 6;
  send(plainFrame());
  EXPECT_EQ(pair.b.completions.records.size(), 1u) << "it comes back and leaves no more";
  const auto received = [&] {
    const auto& records = pair.a.completions.records;
    return std::count_if(records.begin(), records.end(), [](const auto& each) { return each.frame.has_value(); });
  };
  EXPECT_EQ(received(), 1);
  target.domain = TransportDomainNumber(6);
  target.takesOwnUnicast = true;
  rule.targets[0] = std::make_shared<FlowTarget>(target);
  ASSERT_TRUE(pair.a.table.removeFlow(own).ok());
  ASSERT_TRUE(pair.a.table.addFlow(rule, own).ok());
  pair.postReceiveAt(pair.a, 2048, RcPair::kData, PlainTranslator::kKey);
  send(plainFrame());
  EXPECT_EQ(received(), 2) << "its own, on demand";
}

TEST_F(RawPacket, AQueueWithARuleIsInUse) {
  ASSERT_TRUE(pair.b.table.addFlow(ruleFor(pair.qpB, 1), name).ok());
  EXPECT_EQ(pair.b.table.destroy(pair.qpB).syndrome, Syndrome::kQpHasFlows);
  EXPECT_TRUE(pair.b.table.removeFlow(name).ok());
  EXPECT_EQ(pair.b.table.removeFlow(name).syndrome, Syndrome::kUnknownFlow);
  EXPECT_TRUE(pair.b.table.destroy(pair.qpB).ok());
}

TEST(RawPacketRules, RulesLeadToRawReceiveQueuesAlone) {
  RcPair pair;
  std::uint64_t name = 0;
  EXPECT_EQ(pair.b.table.addFlow(ruleFor(pair.qpB, 1), name).syndrome, Syndrome::kQpServiceUnsupported);
  EXPECT_EQ(pair.b.table.addFlow(ruleFor(QpNumber(999), 1), name).syndrome, Syndrome::kUnknownQp);
}

}  // namespace
}  // namespace hca::adapter::test

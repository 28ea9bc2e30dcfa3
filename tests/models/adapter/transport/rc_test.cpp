// Reliable connections end to end on the data path: data, order, acknowledgements.
#include <gtest/gtest.h>

#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

using Options = RcPair::Options;

TEST(Rc, WritePlacesDataAndCompletesOnce) {
  RcPair pair;
  pair.fill(64);
  pair.post(64);
  pair.run();
  EXPECT_TRUE(pair.arrived(64));
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  const CompletionRecord& record = pair.a.completions.records[0];
  EXPECT_EQ(record.opcode, CqeOpcode::kRequester);
  EXPECT_EQ(record.sendOpcode, 0x08);
  EXPECT_EQ(record.cq, CqNumber(1));
  EXPECT_EQ(record.userIndex, 0x77u);
  EXPECT_EQ(record.wqeCounter, 0);
  EXPECT_TRUE(pair.b.completions.records.empty());
}

TEST(Rc, LongWriteIsCutAtTheMtu) {
  RcPair pair;
  pair.fill(1000);
  pair.post(1000);
  pair.run();
  EXPECT_TRUE(pair.arrived(1000));
  EXPECT_EQ(pair.a.wire.sent, 4);
  EXPECT_EQ(pair.b.wire.sent, 1) << "one acknowledgement";
}

TEST(Rc, EmptyMessageIsOnePacket) {
  RcPair pair;
  pair.post(0);
  pair.run();
  EXPECT_EQ(pair.a.wire.sent, 1);
  EXPECT_EQ(pair.a.completions.records.size(), 1u);
}

TEST(Rc, WriteWithImmediateConsumesAReceive) {
  RcPair pair;
  pair.postReceive(0);
  Options options;
  options.opcode = 0x09;
  options.immediate = 0xDEADBEEF;
  pair.fill(64);
  pair.post(64, options);
  pair.run();
  EXPECT_TRUE(pair.arrived(64));
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.completions.records[0].opcode, CqeOpcode::kResponderWriteImmediate);
  EXPECT_EQ(pair.b.completions.records[0].immediateOrKey, 0xDEADBEEF);
  EXPECT_EQ(pair.b.completions.records[0].byteCount, 64u);
}

TEST(Rc, SendScattersIntoTheReceive) {
  RcPair pair;
  pair.postReceive(512);
  Options options;
  options.opcode = 0x0A;
  pair.fill(512);
  pair.post(512, options);
  pair.run();
  EXPECT_TRUE(pair.arrived(512));
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.completions.records[0].opcode, CqeOpcode::kResponderSend);
  EXPECT_EQ(pair.b.completions.records[0].byteCount, 512u);
  EXPECT_EQ(pair.b.completions.records[0].cq, CqNumber(2));
}

TEST(Rc, BlueFlameNeedsNoFetch) {
  RcPair pair;
  pair.fill(64);
  std::vector<std::uint8_t> wqe = pair.wqe(64, Options{});
  wqe.resize(64);
  pair.putWqe(wqe);
  pair.a.sendQueue.onDoorbell(UarIndex(RcPair::kUar), wqe);
  pair.run();
  EXPECT_TRUE(pair.arrived(64));
  EXPECT_EQ(pair.a.memory.reads[pcie::Traffic::kWqe], 0);
}

// 100 bytes inline: a WQE of two blocks, copied line by line.
std::vector<std::uint8_t> inlineWqe(const RcPair& pair) {
  std::vector<std::uint8_t> wqe;
  RcPair::put(wqe, (pair.sendIndex & 0xFFFF) << 8 | 0x08, 4);
  RcPair::put(wqe, std::uint64_t{pair.qpA.value()} << 8 | 8, 4);
  RcPair::put(wqe, 0x08, 4);
  RcPair::put(wqe, 0, 4);
  RcPair::put(wqe, RcPair::kData, 8);
  RcPair::put(wqe, PlainTranslator::kKey, 4);
  RcPair::put(wqe, 0, 4);
  RcPair::put(wqe, 0x80000000 | 90, 4);
  while (wqe.size() < 128) wqe.push_back(0x5A);
  return wqe;
}

TEST(Rc, BlueFlameOfTwoLinesNeedsNoFetch) {
  RcPair pair;
  const std::vector<std::uint8_t> wqe = inlineWqe(pair);
  pair.putWqe(wqe);
  pair.a.sendQueue.onDoorbell(UarIndex(RcPair::kUar), ByteView(wqe).subview(0, 64));
  pair.run(nanoseconds(50));
  EXPECT_EQ(pair.a.wire.sent, 0) << "waits for the second line";
  pair.a.sendQueue.onBlueFlameLine(UarIndex(RcPair::kUar), 64, ByteView(wqe).subview(64, 64));
  pair.run();
  EXPECT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.memory.bytes[RcPair::kData + 89], 0x5A);
  EXPECT_EQ(pair.b.memory.bytes[RcPair::kData + 90], 0);
  EXPECT_EQ(pair.a.memory.reads[pcie::Traffic::kWqe], 0);
}

TEST(Rc, BrokenBlueFlameCopyIsFetched) {
  RcPair pair;
  const std::vector<std::uint8_t> wqe = inlineWqe(pair);
  pair.putWqe(wqe);
  pair.a.sendQueue.onDoorbell(UarIndex(RcPair::kUar), ByteView(wqe).subview(0, 64));
  pair.a.sendQueue.onBlueFlameLine(UarIndex(RcPair::kUar), 128, ByteView(wqe).subview(64, 64));
  pair.run();
  EXPECT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.memory.reads[pcie::Traffic::kWqe], 1);
}

TEST(Rc, WqeThatWrapsTheRingIsFetchedInTwoReads) {
  RcPair pair;
  for (int i = 0; i < 15; ++i) pair.post(8);
  pair.run();
  // Inline data of 120 bytes: 16 + 16 + 4 + 120 = 156, three blocks: the ring's last and its first two.
  std::vector<std::uint8_t> wqe;
  RcPair::put(wqe, (pair.sendIndex & 0xFFFF) << 8 | 0x08, 4);
  RcPair::put(wqe, std::uint64_t{pair.qpA.value()} << 8 | 10, 4);
  RcPair::put(wqe, 0x08, 4);
  RcPair::put(wqe, 0, 4);
  RcPair::put(wqe, RcPair::kData, 8);
  RcPair::put(wqe, PlainTranslator::kKey, 4);
  RcPair::put(wqe, 0, 4);
  RcPair::put(wqe, 0x80000000 | 120, 4);
  for (int i = 0; i < 124; ++i) wqe.push_back(static_cast<std::uint8_t>(i < 120 ? 0xA0 + i % 16 : 0));
  pair.putWqe(wqe);
  pair.ring();
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 16u);
  EXPECT_EQ(pair.a.completions.records[15].opcode, CqeOpcode::kRequester);
  for (int i = 0; i < 120; ++i)
    EXPECT_EQ(pair.b.memory.bytes[RcPair::kData + static_cast<std::size_t>(i)], 0xA0 + i % 16);
  EXPECT_EQ(pair.b.memory.bytes[RcPair::kData + 120], 0);
}

TEST(Rc, CountersAndSequenceNumbersWrap) {
  RcPair pair(0xFFFFF0);
  for (int batch = 0; batch < 5000; ++batch) {
    for (int i = 0; i < 14; ++i) pair.post(8);
    pair.run(microseconds(20));
  }
  ASSERT_EQ(pair.a.completions.records.size(), 70'000u);
  for (std::size_t i = 0; i < pair.a.completions.records.size(); ++i) {
    ASSERT_EQ(pair.a.completions.records[i].wqeCounter, static_cast<std::uint16_t>(i));
    ASSERT_EQ(pair.a.completions.records[i].opcode, CqeOpcode::kRequester);
  }
}

TEST(Rc, RequestMayAskForAnEventOfItsOwn) {
  RcPair pair;
  Options options;
  options.completion = 0x0C;  // CQE and EQE
  pair.post(64, options);
  pair.post(64);
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 2u);
  EXPECT_TRUE(pair.a.completions.records[0].forceEvent);
  EXPECT_FALSE(pair.a.completions.records[1].forceEvent);
}

TEST(Rc, LostPacketIsSentAgainAndNothingTwice) {
  RcPair pair;
  int count = 0;
  pair.a.wire.filter = [&](network::Packet&) { return ++count != 2; };
  pair.fill(1000);
  pair.post(1000);
  pair.post(64);
  pair.run();
  EXPECT_TRUE(pair.arrived(1000));
  ASSERT_EQ(pair.a.completions.records.size(), 2u);
  EXPECT_EQ(pair.b.responder.sequenceNaks(), 1u);
  EXPECT_EQ(pair.a.requester.retransmissions(), 1u);
}

TEST(Rc, LostAcknowledgementIsMadeUpForByTheTimeout) {
  RcPair pair;
  int count = 0;
  pair.b.wire.filter = [&](network::Packet&) { return ++count != 1; };
  pair.post(64);
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].opcode, CqeOpcode::kRequester);
  EXPECT_EQ(pair.b.responder.duplicates(), 1u);
}

TEST(Rc, OneAcknowledgementAnswersSeveralRequests) {
  constexpr int kMessages = 9;
  const auto acknowledgements = [](std::int64_t coalescing, int messages) {
    RcPair pair;
    pair.b.config.ackCoalescing = coalescing;
    for (int i = 0; i < messages; ++i) pair.post(64);
    pair.run();
    EXPECT_EQ(pair.a.completions.records.size(), static_cast<std::size_t>(messages));
    return pair.b.wire.sent;
  };
  EXPECT_EQ(acknowledgements(1, kMessages), kMessages);
  EXPECT_EQ(acknowledgements(4, 8), 2) << "each fourth";
  EXPECT_EQ(acknowledgements(4, kMessages), 3) << "and one for the rest, when nothing more comes";
}

TEST(Rc, ADelayedAcknowledgementWaitsNoLongerThanItsTime) {
  RcPair pair;
  pair.b.config.ackCoalescing = 4;
  pair.b.config.ackDelay = microseconds(2);
  Time sent{};
  pair.b.wire.filter = [&](network::Packet&) {
    sent = pair.calendar.now();
    return true;
  };
  Time arrived{};
  pair.a.wire.filter = [&](network::Packet&) {
    arrived = pair.calendar.now() + nanoseconds(100);
    return true;
  };
  pair.post(64);
  pair.run();
  EXPECT_EQ(sent - arrived, microseconds(2));
  EXPECT_EQ(pair.a.completions.records.size(), 1u);
}

TEST(Rc, DoorbellsThatMeanNothingAreCounted) {
  RcPair pair;
  const std::vector<std::uint8_t> unknownQp = {0, 0, 0, 8, 0xFF, 0xFF, 0xFF, 2};
  pair.a.sendQueue.onDoorbell(UarIndex(RcPair::kUar), unknownQp);
  pair.a.sendQueue.onDoorbell(UarIndex(RcPair::kUar), std::vector<std::uint8_t>(4));
  pair.putWqe(pair.wqe(8, Options{}));
  pair.a.sendQueue.onDoorbell(UarIndex(RcPair::kUar + 1), pair.lastHead);
  std::vector<std::uint8_t> beyond = pair.lastHead;
  beyond[2] = 0x40;  // 64 blocks ahead in a ring of 16
  pair.a.sendQueue.onDoorbell(UarIndex(RcPair::kUar), beyond);
  pair.run();
  EXPECT_EQ(pair.a.sendQueue.ignoredDoorbells(), 4u);
  EXPECT_EQ(pair.a.wire.sent, 0);
}

TEST(Rc, ResetForgetsWithoutCompletions) {
  RcPair pair;
  pair.post(1000);
  pair.run(nanoseconds(400));
  ASSERT_TRUE(pair.a.table.modify(pair.qpA, QpTransition::kToReset, 0, {}).ok());
  pair.run();
  EXPECT_TRUE(pair.a.completions.records.empty());
}

TEST(Rc, DestroyedInFlightLeavesNothingBehind) {
  RcPair pair;
  pair.post(1000);
  pair.run(nanoseconds(400));
  ASSERT_TRUE(pair.a.table.destroy(pair.qpA).ok());
  pair.run();
  EXPECT_TRUE(pair.a.completions.records.empty());
  EXPECT_EQ(pair.a.completions.attached, 0);
}

TEST(QpTable, RefusesWhatIsWrong) {
  RcPair pair;
  QpNumber number;
  QpAttributes attributes = RcPair::attributes();
  attributes.sendCq = CqNumber(99);
  EXPECT_EQ(pair.a.table.create(attributes, number).syndrome, Syndrome::kQpCqUnknown);
  attributes = RcPair::attributes();
  attributes.receiveCq = CqNumber(99);
  EXPECT_EQ(pair.a.table.create(attributes, number).syndrome, Syndrome::kQpCqUnknown);
  EXPECT_EQ(pair.a.completions.attached, 2) << "of the pair itself";
  attributes = RcPair::attributes();
  attributes.buffer.pages.clear();
  EXPECT_EQ(pair.a.table.create(attributes, number).syndrome, Syndrome::kQpPagesWrong);
  EXPECT_EQ(pair.a.table.destroy(QpNumber(1)).syndrome, Syndrome::kUnknownQp);
  EXPECT_EQ(pair.a.table.modify(pair.qpA, QpTransition::kResetToInit, 0, {}).status, CommandStatus::kBadQpState);
}

}  // namespace
}  // namespace hca::adapter::test

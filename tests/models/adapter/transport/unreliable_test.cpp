// Unreliable connections and datagrams: done when sent, dropped without a word.
#include <gtest/gtest.h>

#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

using Options = RcPair::Options;

Options send() {
  Options options;
  options.opcode = 0x0A;
  return options;
}
Options datagram() {
  Options options = send();
  options.datagram = true;
  return options;
}

TEST(Uc, WriteCompletesWithoutAnAcknowledgement) {
  RcPair pair(5, QpService::kUc);
  pair.fill(600);
  pair.post(600);
  pair.run();
  EXPECT_TRUE(pair.arrived(600));
  EXPECT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.wire.sent, 0);
}

TEST(Uc, SendConsumesAReceive) {
  RcPair pair(0, QpService::kUc);
  pair.postReceive(600);
  pair.fill(600);
  pair.post(600, send());
  pair.run();
  EXPECT_TRUE(pair.arrived(600));
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.completions.records[0].byteCount, 600u);
}

TEST(Uc, LostPacketCostsTheWholeMessageAndNoOther) {
  RcPair pair(0, QpService::kUc);
  int count = 0;
  pair.a.wire.filter = [&](network::Packet&) { return ++count != 2; };
  for (int i = 0; i < 2; ++i) pair.postReceive(600);
  pair.post(600, send());
  pair.post(600, send());
  pair.run();
  EXPECT_EQ(pair.a.completions.records.size(), 2u) << "the sender can't know";
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.completions.records[0].wqeCounter, 0) << "the receive WQE of the lost message is used again";
  EXPECT_EQ(pair.b.responder.unreliableDrops(), 1u);
}

TEST(Uc, WriteBehindALostSendCompletesNoReceive) {
  RcPair pair(0, QpService::kUc);
  int count = 0;
  pair.a.wire.filter = [&](network::Packet&) { return ++count != 2; };
  pair.postReceive(600);
  pair.post(600, send());
  pair.post(64);
  pair.run();
  EXPECT_TRUE(pair.b.completions.records.empty());
  pair.post(64, send());
  pair.run();
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.completions.records[0].opcode, CqeOpcode::kResponderSend);
  EXPECT_EQ(pair.b.completions.records[0].wqeCounter, 0);
}

TEST(Uc, NoReceiveDropsTheMessage) {
  RcPair pair(0, QpService::kUc);
  pair.post(64, send());
  pair.run();
  EXPECT_TRUE(pair.b.completions.records.empty());
  EXPECT_EQ(pair.b.wire.sent, 0);
  EXPECT_EQ(pair.b.responder.unreliableDrops(), 1u);
  pair.postReceive(64);
  pair.post(64, send());
  pair.run();
  EXPECT_EQ(pair.b.completions.records.size(), 1u) << "the next one is welcome";
}

TEST(Uc, ReadIsNotOffered) {
  RcPair pair(0, QpService::kUc);
  Options read;
  read.opcode = 0x10;
  pair.post(64, read);
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kLocalQpOperation);
}

TEST(Ud, PayloadComesBehindTheRoomForTheGlobalRoute) {
  RcPair pair(0, QpService::kUd);
  pair.postReceive(40 + 64);
  pair.fill(64);
  pair.post(64, datagram());
  pair.run();
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  const CompletionRecord& record = pair.b.completions.records[0];
  EXPECT_EQ(record.byteCount, 104u);
  EXPECT_EQ(record.remoteQp, pair.qpA);
  EXPECT_EQ(record.sourceLid, 1);
  EXPECT_EQ(record.serviceLevel, 3);
  EXPECT_FALSE(record.globalRouteInBuffer);
  EXPECT_EQ(std::memcmp(&pair.a.memory.bytes[RcPair::kData], &pair.b.memory.bytes[RcPair::kData + 40], 64), 0);
  EXPECT_EQ(pair.b.memory.bytes[RcPair::kData], 0) << "without a global route the room stays as it was";
}

TEST(Ud, GlobalRouteHeaderIsWritten) {
  RcPair pair(0, QpService::kUd);
  pair.postReceive(104);
  Options options = datagram();
  options.globalRoute = true;
  pair.post(64, options);
  pair.run();
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  EXPECT_TRUE(pair.b.completions.records[0].globalRouteInBuffer);
  const std::uint8_t* header = &pair.b.memory.bytes[RcPair::kData];
  EXPECT_EQ(header[0] >> 4, 6) << "IP version";
  EXPECT_EQ(header[4] << 8 | header[5], 64 + 24) << "payload, BTH, DETH and ICRC";
  EXPECT_EQ(header[6], 0x1B);
  EXPECT_EQ(header[7], 0x40);
  EXPECT_EQ(header[24], 0xB0) << "destination GID";
}

// Four LIDs a port: 4 to 7 are the sender's, 8 to 11 the receiver's.
TEST(Ud, PathBitsChooseAmongThePortsLids) {
  RcPair pair(0, QpService::kUd, 2);
  pair.postReceive(104);
  Options options = datagram();
  options.remoteLid = 8 + 3;
  options.pathBits = 1;
  pair.post(64, options);
  pair.run();
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.completions.records[0].pathBits, 3);
  EXPECT_EQ(pair.b.completions.records[0].sourceLid, 4 + 1);
}

TEST(Ud, PathBitsThatThePortDoesNotHaveAreIgnored) {
  RcPair pair(0, QpService::kUd, 1);
  pair.postReceive(104);
  Options options = datagram();
  options.remoteLid = 4;
  options.pathBits = 6;
  pair.post(64, options);
  pair.run();
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.completions.records[0].pathBits, 0);
  EXPECT_EQ(pair.b.completions.records[0].sourceLid, 2);
}

TEST(Ud, WrongQueueKeyIsDropped) {
  RcPair pair(0, QpService::kUd);
  pair.postReceive(104);
  Options options = datagram();
  options.queueKey = 0x22222222;
  pair.post(64, options);
  pair.run();
  EXPECT_TRUE(pair.b.completions.records.empty());
  EXPECT_EQ(pair.b.dispatcher.drops().wrongQueueKey, 1u);
  EXPECT_EQ(pair.a.completions.records.size(), 1u);
}

TEST(Ud, ControlledQueueKeyMeansTheSendersOwn) {
  RcPair pair(0, QpService::kUd);
  pair.postReceive(104);
  Options options = datagram();
  options.queueKey = 0x80000000;
  pair.post(64, options);
  pair.run();
  EXPECT_EQ(pair.b.completions.records.size(), 1u);
}

TEST(Ud, OneMtuIsTheMost) {
  RcPair pair(0, QpService::kUd);
  pair.postReceive(40 + RcPair::kMtu);
  pair.post(RcPair::kMtu, datagram());
  pair.run();
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  pair.post(RcPair::kMtu + 1, datagram());
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 2u);
  EXPECT_EQ(pair.a.completions.records[1].syndrome, CqeSyndrome::kLocalLength);
}

TEST(Ud, WritesAreNotOffered) {
  RcPair pair(0, QpService::kUd);
  Options options = datagram();
  options.opcode = 0x08;
  pair.post(64, options);
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kLocalQpOperation);
}

TEST(Ud, ShortAddressVectorThatDoesNotFitIsMalformed) {
  RcPair pair(0, QpService::kUd);
  std::vector<std::uint8_t> wqe;
  RcPair::put(wqe, (pair.sendIndex & 0xFFFF) << 8 | 0x0A, 4);
  RcPair::put(wqe, std::uint64_t{pair.qpA.value()} << 8 | 2, 4);
  RcPair::put(wqe, 0x08, 4);
  RcPair::put(wqe, 0, 4);
  RcPair::put(wqe, 0, 8);
  RcPair::put(wqe, 0x80000000U | pair.qpB.value(), 4);  // says 48 bytes, there are 16
  RcPair::put(wqe, 0, 4);
  pair.putWqe(wqe);
  pair.ring();
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kLocalQpOperation);
}

}  // namespace
}  // namespace hca::adapter::test

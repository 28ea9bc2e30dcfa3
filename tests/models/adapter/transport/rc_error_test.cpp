// Reliable connections in trouble: each cause with its completions on both sides, and what is flushed.
#include <gtest/gtest.h>

#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

using Options = RcPair::Options;

TEST(Rc, UnsignaledRequestWritesNoCqeButFailsWithOne) {
  RcPair pair;
  Options quiet;
  quiet.completion = 0;
  pair.post(8, quiet);
  pair.run();
  EXPECT_TRUE(pair.a.completions.records.empty());
  quiet.remoteKey = 0x9999;
  pair.post(8, quiet);
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kRemoteAccess);
}

TEST(Rc, RemoteAccessErrorThenFlushInOrder) {
  RcPair pair;
  Options bad;
  bad.remoteKey = 0x9999;
  pair.post(64);
  pair.post(64, bad);
  for (int i = 0; i < 4; ++i) pair.post(64);
  pair.run();
  const auto& records = pair.a.completions.records;
  ASSERT_EQ(records.size(), 6u);
  EXPECT_EQ(records[0].opcode, CqeOpcode::kRequester);
  EXPECT_EQ(records[1].syndrome, CqeSyndrome::kRemoteAccess);
  EXPECT_EQ(records[1].vendorError, 0x88);
  for (std::size_t i = 2; i < 6; ++i) {
    EXPECT_EQ(records[i].opcode, CqeOpcode::kRequesterError);
    EXPECT_EQ(records[i].syndrome, CqeSyndrome::kWorkRequestFlushed);
    EXPECT_EQ(records[i].wqeCounter, i);
  }
  ASSERT_EQ(pair.b.events.events.size(), 1u);
  EXPECT_EQ(pair.b.events.events[0].type, EventType::kWqAccessError);
  EXPECT_EQ(pair.b.events.events[0].object, pair.qpB.value());
}

TEST(Rc, RequestThatAsksForTheFirstErrorIsFlushedSilentlyBehindOne) {
  RcPair pair;
  Options options;
  options.completion = 0x04;  // CQE on the first error
  options.remoteKey = 0x99;
  pair.putWqe(pair.wqe(64, options));
  pair.putWqe(pair.wqe(64, options));
  pair.putWqe(pair.wqe(64, Options{}));
  pair.ring();
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 2u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kRemoteAccess) << "it is the first one";
  EXPECT_EQ(pair.a.completions.records[1].wqeCounter, 2) << "the second has nothing to add";
  EXPECT_EQ(pair.a.completions.records[1].syndrome, CqeSyndrome::kWorkRequestFlushed);
}

TEST(Rc, RequestThatAsksForTheFirstErrorIsFlushedWithOneIfThereWasNone) {
  RcPair pair;
  pair.a.wire.filter = [](network::Packet&) { return false; };
  Options options;
  options.completion = 0x04;
  pair.post(64, options);
  pair.post(64, options);
  pair.run(microseconds(1));
  EXPECT_TRUE(pair.a.table.modify(pair.qpA, QpTransition::kToError, 0, {}).ok());
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].wqeCounter, 0);
}

// The last of two packets brings the immediate. It gets lost once, and when it comes the receiver's memory is gone.
TEST(Rc, MemoryThatGoesAwayDuringAWriteWithImmediateIsALocalAccessErrorThere) {
  RcPair pair;
  pair.postReceive(0);
  pair.postReceive(0);
  int lasts = 0;
  pair.a.wire.filter = [&](network::Packet& packet) {
    return packet.operation != network::Operation::kWriteLastImmediate || lasts++ > 0;
  };
  Options options;
  options.opcode = 0x09;
  pair.post(512, options);
  pair.run(microseconds(2));
  ASSERT_EQ(lasts, 1);
  pair.b.translator.limit = RcPair::kData + 300;
  pair.run();
  ASSERT_EQ(pair.b.completions.records.size(), 2u);
  EXPECT_EQ(pair.b.completions.records[0].syndrome, CqeSyndrome::kLocalAccess);
  EXPECT_EQ(pair.b.completions.records[0].vendorError, 0x58);
  EXPECT_EQ(pair.b.completions.records[0].wqeCounter, 0);
  EXPECT_EQ(pair.b.completions.records[1].syndrome, CqeSyndrome::kWorkRequestFlushed);
  ASSERT_EQ(pair.b.events.events.size(), 1u);
  EXPECT_EQ(pair.b.events.events[0].type, EventType::kWqAccessError);
  EXPECT_EQ(pair.b.events.events[0].object, pair.qpB.value());
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kRemoteAccess);
}

TEST(Rc, WriteWithImmediateThatIsRefusedFromItsStartFlushesTheReceive) {
  RcPair pair;
  pair.postReceive(0);
  Options options;
  options.opcode = 0x09;
  options.remoteKey = 0x99;
  pair.post(64, options);
  pair.run();
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.completions.records[0].syndrome, CqeSyndrome::kWorkRequestFlushed);
}

TEST(Rc, AnswerThatMeansNothingIsABadResponse) {
  RcPair pair;
  pair.b.wire.filter = [](network::Packet& packet) {
    packet.syndrome = 0x7F;  // a NAK with a reserved code
    return true;
  };
  pair.post(64);
  pair.post(64);
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 2u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kBadResponse);
  EXPECT_EQ(pair.a.completions.records[0].vendorError, 0x59);
  EXPECT_EQ(pair.a.completions.records[1].syndrome, CqeSyndrome::kWorkRequestFlushed);
}

TEST(Rc, PostAfterAnErrorIsFlushed) {
  RcPair pair;
  ASSERT_TRUE(pair.a.table.modify(pair.qpA, QpTransition::kToError, 0, {}).ok());
  pair.post(64);
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kWorkRequestFlushed);
  EXPECT_EQ(pair.a.wire.sent, 0);
}

TEST(Rc, ErrorFlushesPostedReceivesInOrder) {
  RcPair pair;
  for (int i = 0; i < 3; ++i) pair.postReceive(64);
  ASSERT_TRUE(pair.b.table.modify(pair.qpB, QpTransition::kToError, 0, {}).ok());
  pair.run();
  ASSERT_EQ(pair.b.completions.records.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(pair.b.completions.records[i].opcode, CqeOpcode::kResponderError);
    EXPECT_EQ(pair.b.completions.records[i].syndrome, CqeSyndrome::kWorkRequestFlushed);
    EXPECT_EQ(pair.b.completions.records[i].wqeCounter, i);
  }
}

TEST(Rc, LocalProtectionErrorWaitsForWhatIsBefore) {
  RcPair pair;
  Options bad;
  bad.key = 0x9999;
  pair.post(256);
  pair.post(64, bad);
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 2u);
  EXPECT_EQ(pair.a.completions.records[0].opcode, CqeOpcode::kRequester);
  EXPECT_EQ(pair.a.completions.records[1].syndrome, CqeSyndrome::kLocalProtection);
}

TEST(Rc, UnknownOpcodeIsALocalOperationError) {
  RcPair pair;
  Options odd;
  odd.opcode = 0x3F;
  pair.post(8, odd);
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kLocalQpOperation);
}

TEST(Rc, TooSmallReceiveFailsBothSides) {
  RcPair pair;
  pair.postReceive(63);
  Options send;
  send.opcode = 0x0A;
  pair.post(64, send);
  pair.run();
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.completions.records[0].syndrome, CqeSyndrome::kLocalLength);
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kRemoteInvalidRequest);
}

TEST(Rc, ReceiveWithABadKeyIsALocalProtectionErrorThere) {
  RcPair pair;
  pair.postReceive(64, RcPair::kData, 0x9999);
  Options send;
  send.opcode = 0x0A;
  pair.post(64, send);
  pair.run();
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.completions.records[0].syndrome, CqeSyndrome::kLocalProtection);
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kRemoteOperation);
}

TEST(Rc, ReceiverNotReadyIsRetriedAndThenGivenUp) {
  RcPair pair;
  Options send;
  send.opcode = 0x0A;
  pair.fill(64);
  pair.post(64, send);
  pair.run(microseconds(5));
  EXPECT_TRUE(pair.a.completions.records.empty());
  EXPECT_EQ(pair.b.responder.rnrNaks(), 1u);
  pair.postReceive(64);
  pair.run();
  EXPECT_TRUE(pair.arrived(64));
  EXPECT_EQ(pair.a.completions.records.at(0).opcode, CqeOpcode::kRequester);

  pair.post(64, send);
  pair.run(milliseconds(1));
  ASSERT_EQ(pair.a.completions.records.size(), 2u);
  EXPECT_EQ(pair.a.completions.records[1].syndrome, CqeSyndrome::kRnrRetryExceeded);
  EXPECT_EQ(pair.b.responder.rnrNaks(), 4u) << "one for the first message; first try and two retries of the second";
}

TEST(Rc, DeadWireEndsInRetryExceededAfterTheTimeouts) {
  RcPair pair;
  pair.a.wire.filter = [](network::Packet&) { return false; };
  pair.post(64);
  pair.post(64);
  // 4.096 us x 2, three times, plus the way of the packet.
  pair.run(microseconds(24));
  EXPECT_TRUE(pair.a.completions.records.empty());
  pair.run(microseconds(3));
  ASSERT_EQ(pair.a.completions.records.size(), 2u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kTransportRetryExceeded);
  EXPECT_EQ(pair.a.completions.records[0].vendorError, 0x81);
  EXPECT_EQ(pair.a.completions.records[1].syndrome, CqeSyndrome::kWorkRequestFlushed);
}

TEST(Rc, ReceiveOfAMessageUnderWayIsFlushedFirst) {
  RcPair pair;
  for (int i = 0; i < 3; ++i) pair.postReceive(1024);
  Options options;
  options.opcode = 0x0A;
  pair.a.wire.filter = [](network::Packet& packet) { return packet.operation == network::Operation::kSendFirst; };
  pair.post(600, options);
  pair.run(microseconds(3));
  EXPECT_TRUE(pair.b.table.modify(pair.qpB, QpTransition::kToError, 0, {}).ok());
  pair.run();
  const auto& records = pair.b.completions.records;
  ASSERT_EQ(records.size(), 3u);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].syndrome, CqeSyndrome::kWorkRequestFlushed);
    EXPECT_EQ(records[i].wqeCounter, i);
  }
}

}  // namespace
}  // namespace hca::adapter::test

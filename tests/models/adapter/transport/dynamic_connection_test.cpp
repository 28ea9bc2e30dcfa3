// Dynamic connections: an initiator on A, targets on B.
#include <gtest/gtest.h>

#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

using network::Operation;

constexpr std::uint64_t kAccessKey = std::uint64_t{0xABCD} << 32;

class DynamicBench : public testing::Test {
 protected:
  static constexpr std::uint64_t kSharedRecord = 0x80, kSharedRing = 0x8000, kReceived = 0x60000;
  static constexpr std::uint8_t kLogShared = 3, kLogStride = 5;

  DynamicBench() {
    for (std::uint32_t place = 0; place < 1U << kLogShared; ++place) putReceive(place);
    SrqAttributes shared;
    shared.pd = PdNumber(PlainTranslator::kPd);
    shared.logSize = kLogShared;
    shared.logStride = kLogStride;
    shared.buffer.pages = {BusAddress(kSharedRing)};
    shared.doorbellRecord = BusAddress(kSharedRecord);
    EXPECT_TRUE(pair.b.sharedQueues.create(shared, srq).ok());
    for (QpNumber& target : targets) target = makeTarget();
    pair.a.wire.filter = [this](network::Packet& packet) {
      sent.push_back(packet.operation);
      times.push_back(pair.calendar.now());
      return !(packet.operation == Operation::kConnect && lose-- > 0);
    };
    pair.fill(1024);
  }
  // Entry `place` of the shared queue: the link, then one piece of 64 bytes.
  void putReceive(std::uint32_t place) {
    std::vector<std::uint8_t> bytes;
    RcPair::put(bytes, (place + 1) % (1U << kLogShared), 4);
    RcPair::put(bytes, 0, 12);
    RcPair::put(bytes, 64, 4);
    RcPair::put(bytes, PlainTranslator::kKey, 4);
    RcPair::put(bytes, kReceived + place * 64, 8);
    std::copy(bytes.begin(), bytes.end(),
              pair.b.memory.bytes.begin() + static_cast<std::ptrdiff_t>(kSharedRing + (place << kLogStride)));
  }
  void postReceives(std::uint8_t count) { pair.b.memory.bytes[kSharedRecord + 3] = count; }
  QpNumber makeTarget() {
    QpAttributes wanted = RcPair::attributes();
    wanted.service = QpService::kDct;
    wanted.hasSendQueue = false;
    wanted.receiveQueueType = RqType::kSrq;
    wanted.srq = srq;
    wanted.mtu = RcPair::kMtu;
    wanted.remoteWrite = wanted.remoteRead = wanted.remoteAtomic = true;
    wanted.accessKey = kAccessKey;
    wanted.minRnrNak = 1;
    QpNumber number;
    EXPECT_TRUE(pair.b.table.create(wanted, number).ok());
    return number;
  }
  RcPair::Options to(std::size_t target, std::uint8_t opcode = 0x08) const {
    RcPair::Options options;
    options.opcode = opcode;
    options.datagram = true;
    options.queueKey = kAccessKey >> 32;
    options.remoteQp = targets[target].value();
    return options;
  }
  std::vector<CompletionRecord>& done() { return pair.a.completions.records; }
  QpState stateOfInitiator() {
    QpAttributes found;
    EXPECT_TRUE(pair.a.table.query(pair.qpA, found).ok());
    return found.state;
  }

  RcPair pair{0x30, QpService::kDci};
  SrqNumber srq;
  QpNumber targets[2];
  std::vector<Operation> sent;  // by A
  std::vector<Time> times;
  int lose = 0;  // requests for a connection
};

TEST_F(DynamicBench, ConnectsBeforeTheFirstRequestAndStaysConnected) {
  pair.post(1000, to(0));
  pair.post(64, to(0));
  pair.run();
  ASSERT_EQ(done().size(), 2U);
  for (const auto& record : done()) EXPECT_EQ(record.opcode, CqeOpcode::kRequester);
  EXPECT_TRUE(pair.arrived(1000));
  const std::vector<Operation> expected{Operation::kConnect,     Operation::kWriteFirst, Operation::kWriteMiddle,
                                        Operation::kWriteMiddle, Operation::kWriteLast,  Operation::kWriteOnly};
  EXPECT_EQ(sent, expected);
}

TEST_F(DynamicBench, AConnectionCostsOneTurn) {
  pair.post(64, to(0));
  pair.run();
  const Time posted = pair.calendar.now();
  pair.post(64, to(0));
  pair.run();
  ASSERT_EQ(times.size(), 3U);
  const Time first = times[1], second = times[2] - posted;
  EXPECT_EQ(first - second, pair.a.context.clock.span(pair.a.config.issueCycles));
}

TEST_F(DynamicBench, ServesTargetsInTheOrderOfTheRequests) {
  for (const std::size_t target : {0U, 1U, 1U, 0U}) pair.post(64, to(target));
  pair.run();
  ASSERT_EQ(done().size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(done()[i].wqeCounter, i * 2) << "two blocks each";
  const std::vector<Operation> expected{Operation::kConnect,    Operation::kWriteOnly, Operation::kDisconnect,
                                        Operation::kConnect,    Operation::kWriteOnly, Operation::kWriteOnly,
                                        Operation::kDisconnect, Operation::kConnect,   Operation::kWriteOnly};
  EXPECT_EQ(sent, expected);
}

TEST_F(DynamicBench, ContextsComeAndGo) {
  const std::size_t before = pair.b.table.size();
  pair.post(64, to(0));
  pair.run();
  EXPECT_EQ(pair.b.table.size(), before + 1);
  pair.post(64, to(1));
  pair.run();
  EXPECT_EQ(pair.b.table.size(), before + 1) << "of the second target alone";
  EXPECT_TRUE(pair.b.table.destroy(targets[1]).ok());
  EXPECT_EQ(pair.b.table.size(), before - 1) << "with its context";
}

TEST_F(DynamicBench, ReceivesAreTheTargets) {
  postReceives(2);
  pair.post(64, to(0, 0x0A));
  RcPair::Options immediate = to(0, 0x0B);
  immediate.immediate = 77;
  pair.post(64, immediate);
  pair.run();
  const auto& received = pair.b.completions.records;
  ASSERT_EQ(received.size(), 2U);
  for (const auto& record : received) {
    EXPECT_EQ(record.qp, targets[0]);
    EXPECT_EQ(record.remoteQp, pair.qpA);
    EXPECT_EQ(record.byteCount, 64U);
  }
  EXPECT_EQ(received[1].immediateOrKey, 77U);
  EXPECT_EQ(done().size(), 2U);
  EXPECT_EQ(std::memcmp(&pair.a.memory.bytes[RcPair::kData], &pair.b.memory.bytes[kReceived], 64), 0);
}

TEST_F(DynamicBench, ReadsAndAtomicsAreAnswered) {
  for (std::uint32_t i = 0; i < 600; ++i) pair.b.memory.bytes[RcPair::kData + i] = static_cast<std::uint8_t>(i * 3);
  pair.post(600, to(0, 0x10));
  RcPair::Options add = to(1, 0x12);
  add.swapOrAdd = 5;
  add.local = RcPair::kData + 4096;
  add.remote = RcPair::kData + 4096;
  pair.b.memory.bytes[RcPair::kData + 4096] = 37;
  pair.post(8, add);
  pair.run();
  ASSERT_EQ(done().size(), 2U);
  EXPECT_TRUE(pair.arrived(600));
  EXPECT_EQ(pair.b.memory.bytes[RcPair::kData + 4096], 42);
  EXPECT_EQ(pair.a.memory.bytes[RcPair::kData + 4096], 37);
}

TEST_F(DynamicBench, AWrongKeyIsRefused) {
  RcPair::Options wrong = to(0);
  wrong.queueKey = 0xDCBA;
  pair.post(64, wrong);
  pair.run();
  ASSERT_EQ(done().size(), 1U);
  EXPECT_EQ(done()[0].syndrome, CqeSyndrome::kRemoteAccess);
  EXPECT_EQ(stateOfInitiator(), QpState::kError);
  ASSERT_EQ(pair.b.events.events.size(), 1U);
  EXPECT_EQ(pair.b.events.events[0].type, EventType::kWqAccessError);
  EXPECT_EQ(pair.b.events.events[0].object, targets[0].value());
  EXPECT_FALSE(pair.arrived(64));
}

TEST_F(DynamicBench, AFailedInitiatorConnectsAnew) {
  RcPair::Options wrong = to(0);
  wrong.remoteKey = 0x999;
  pair.post(64, wrong);
  pair.run();
  ASSERT_EQ(done().size(), 1U);
  EXPECT_EQ(done()[0].syndrome, CqeSyndrome::kRemoteAccess);
  EXPECT_TRUE(pair.a.table.modify(pair.qpA, QpTransition::kToReset, 0, {}).ok());
  pair.sendIndex = 0;
  // Packet numbers begin again, too.
  RcPair::connect(pair.a, pair.qpA, QpNumber(0), 0, 0x30);
  pair.post(64, to(0));
  pair.run();
  ASSERT_EQ(done().size(), 2U);
  EXPECT_EQ(done()[1].opcode, CqeOpcode::kRequester);
  EXPECT_TRUE(pair.arrived(64));
}

TEST_F(DynamicBench, ALostRequestForAConnectionIsRepeated) {
  lose = 1;
  pair.post(64, to(0));
  pair.run(microseconds(500));
  ASSERT_EQ(done().size(), 1U);
  EXPECT_EQ(done()[0].opcode, CqeOpcode::kRequester);
  EXPECT_TRUE(pair.arrived(64));
  EXPECT_GT(pair.a.requester.retransmissions(), 0U);
}

TEST_F(DynamicBench, NobodyReachesADrainedTarget) {
  pair.post(64, to(0));
  pair.run();
  EXPECT_TRUE(pair.b.table.drainTarget(targets[0]).ok());
  ASSERT_EQ(pair.b.events.events.size(), 1U);
  EXPECT_EQ(pair.b.events.events[0].type, EventType::kDctDrained);
  EXPECT_EQ(pair.b.events.events[0].object, targets[0].value());
  pair.post(64, to(0));
  pair.run(milliseconds(1));
  ASSERT_EQ(done().size(), 2U);
  EXPECT_EQ(done()[1].syndrome, CqeSyndrome::kTransportRetryExceeded);
}

TEST_F(DynamicBench, CommandsOfQueuePairsDoNotReachTargetsAndContexts) {
  const QpAttributes nothing;
  EXPECT_EQ(pair.b.table.modify(targets[0], QpTransition::kToReset, 0, nothing).status, CommandStatus::kBadResource);
  EXPECT_EQ(pair.b.table.drainTarget(pair.qpB).syndrome, Syndrome::kUnknownDct);
  pair.post(64, to(0));
  pair.run();
  const QpNumber context(targets[1].value() + 1);
  QpAttributes found;
  EXPECT_EQ(pair.b.table.query(context, found).status, CommandStatus::kBadResource);
  EXPECT_EQ(pair.b.table.destroy(context).status, CommandStatus::kBadResource);
}

TEST_F(DynamicBench, TheAdapterMayHaveNone) {
  pair.b.config.dynamicConnections = false;
  QpAttributes wanted = RcPair::attributes();
  wanted.service = QpService::kDci;
  QpNumber number;
  EXPECT_EQ(pair.b.table.create(wanted, number).syndrome, Syndrome::kQpServiceUnsupported);
}

}  // namespace
}  // namespace hca::adapter::test

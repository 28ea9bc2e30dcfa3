// Extended reliable connections on the data path: packets name the shared queue that they are for.
#include <gtest/gtest.h>

#include "tests/models/adapter/transport/srq_bench.h"

namespace hca::adapter::test {
namespace {

/// Two initiators at A, each with its target at B; three shared queues there, the third in another domain.
class XrcBench {
 public:
  static constexpr std::uint32_t kDomain = 5, kOtherDomain = 6;
  static constexpr std::uint64_t kRings = 0x8000, kRecords = 0x80, kSendRings = 0x10000, kData = 0x60000;

  XrcBench() : a(calendar, 0, 1), b(calendar, 1, 2) {
    a.wire.receiver = &b.dispatcher.port(1);
    b.wire.receiver = &a.dispatcher.port(1);
    for (std::uint32_t i = 0; i < 3; ++i) {
      SrqAttributes wanted;
      wanted.kind = SrqKind::kXrc;
      wanted.pd = PdNumber(11 + i);
      wanted.logSize = 3;
      wanted.buffer.pages = {BusAddress(kRings + i * 0x1000)};
      wanted.doorbellRecord = BusAddress(kRecords + i * 8);
      wanted.domain = XrcdNumber(i == 2 ? kOtherDomain : kDomain);
      wanted.cq = CqNumber(3 + i);
      wanted.userIndex = 0x100 + i;
      EXPECT_TRUE(b.sharedQueues.create(wanted, queues[i]).ok());
    }
    for (std::uint32_t i = 0; i < 2; ++i) {
      QpAttributes wanted = RcPair::attributes();
      wanted.service = QpService::kXrc;
      wanted.receiveQueueType = RqType::kSrq;
      wanted.buffer.pages = {BusAddress(kSendRings + i * 0x1000)};
      wanted.domain = XrcdNumber(9);
      EXPECT_TRUE(a.table.create(wanted, initiators[i]).ok());
      wanted.hasSendQueue = false;
      wanted.domain = XrcdNumber(kDomain);
      EXPECT_TRUE(b.table.create(wanted, targets[i]).ok());
      RcPair::connect(a, initiators[i], targets[i], 2, 0);
      RcPair::connect(b, targets[i], initiators[i], 1, 0);
    }
  }

  /// Posts `count` more receives of 512 bytes to shared queue `which`.
  void post(std::uint32_t which, std::uint32_t count) {
    for (; count > 0; --count) {
      const std::uint32_t place = posted[which]++ % 8;
      std::vector<std::uint8_t> bytes;
      RcPair::put(bytes, (place + 1) % 8, 4);
      RcPair::put(bytes, 0, 12);
      RcPair::put(bytes, 512, 4);
      RcPair::put(bytes, PlainTranslator::kKey, 4);
      RcPair::put(bytes, kData + which * 0x4000 + place * 512, 8);
      std::copy(bytes.begin(), bytes.end(), &b.memory.bytes[kRings + which * 0x1000 + place * 32]);
    }
    b.memory.bytes[kRecords + which * 8 + 3] = static_cast<std::uint8_t>(posted[which]);
  }
  void send(std::uint32_t initiator, SrqNumber queue, std::uint32_t length = 64, std::uint8_t opcode = 0x0A) {
    const bool remote = opcode == 0x08 || opcode == 0x10;
    std::vector<std::uint8_t> wqe;
    RcPair::put(wqe, sent[initiator] << 8 | opcode, 4);
    RcPair::put(wqe, std::uint64_t{initiators[initiator].value()} << 8 | (remote ? 4 : 3), 4);
    RcPair::put(wqe, 0x08, 4);
    RcPair::put(wqe, 0, 4);
    RcPair::put(wqe, queue.value(), 4);
    RcPair::put(wqe, 0, 12);
    if (remote) {
      RcPair::put(wqe, kData, 8);
      RcPair::put(wqe, PlainTranslator::kKey, 4);
      RcPair::put(wqe, 0, 4);
    }
    RcPair::put(wqe, length, 4);
    RcPair::put(wqe, PlainTranslator::kKey, 4);
    RcPair::put(wqe, kData, 8);
    const std::uint64_t at = kSendRings + initiator * 0x1000 + sent[initiator]++ * 64;
    std::copy(wqe.begin(), wqe.end(), &a.memory.bytes[at]);
    wqe.resize(8);
    a.sendQueue.onDoorbell(UarIndex(RcPair::kUar), wqe);
  }
  void run(Time span = microseconds(50)) { calendar.runUntil(calendar.now() + span); }

  kernel::Calendar calendar;
  Side a, b;
  SrqNumber queues[3];
  QpNumber initiators[2], targets[2];
  std::uint32_t posted[3] = {}, sent[2] = {};
};

TEST(Xrc, PacketsNameTheQueueThatTheyAreFor) {
  XrcBench bench;
  for (const std::uint32_t which : {0U, 1U}) bench.post(which, 4);
  bench.a.wire.filter = [&](network::Packet& packet) {
    EXPECT_EQ(packet.service, network::Service::kXrc);
    EXPECT_TRUE(packet.destinationQp == bench.targets[0] || packet.destinationQp == bench.targets[1]);
    return true;
  };
  const std::pair<std::uint32_t, std::uint32_t> messages[] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {1, 0}, {0, 0}};
  for (const auto& [initiator, queue] : messages) {
    bench.send(initiator, bench.queues[queue]);
    bench.run();
  }
  ASSERT_EQ(bench.b.completions.records.size(), 6u);
  std::uint32_t taken[2] = {};
  for (std::size_t i = 0; i < 6; ++i) {
    const CompletionRecord& record = bench.b.completions.records[i];
    const auto& [initiator, queue] = messages[i];
    EXPECT_EQ(record.opcode, CqeOpcode::kResponderSend);
    EXPECT_EQ(record.qp, bench.targets[initiator]);
    EXPECT_EQ(record.cq, CqNumber(3 + queue)) << "the shared queue's own";
    EXPECT_EQ(record.userIndex, 0x100 + queue);
    EXPECT_EQ(record.wqeCounter, taken[queue]++);
    EXPECT_EQ(record.request.qp.value(), bench.queues[queue].value());
  }
  ASSERT_EQ(bench.a.completions.records.size(), 6u);
  for (const auto& record : bench.a.completions.records) EXPECT_EQ(record.opcode, CqeOpcode::kRequester);
}

TEST(Xrc, RemoteKeysBelongToTheQueuesProtectionDomain) {
  XrcBench bench;
  for (const std::uint8_t opcode : {0x08, 0x10}) {
    for (const std::uint32_t queue : {0U, 1U}) {
      bench.send(0, bench.queues[queue], 600, opcode);
      bench.run();
      EXPECT_EQ(bench.b.translator.lastDomain, PdNumber(11 + queue));
    }
  }
  ASSERT_EQ(bench.a.completions.records.size(), 4u);
  for (const auto& record : bench.a.completions.records) EXPECT_EQ(record.opcode, CqeOpcode::kRequester);
  bench.post(1, 1);
  bench.send(0, bench.queues[1]);
  bench.run();
  EXPECT_EQ(bench.b.translator.lastDomain, PdNumber(12)) << "and so do local ones";
}

TEST(Xrc, WrongQueueIsAnInvalidRequest) {
  SrqNumber basic;
  for (int wrong = 0; wrong < 3; ++wrong) {
    XrcBench bench;
    SrqAttributes wanted;
    wanted.logSize = 3;
    wanted.buffer.pages = {BusAddress(0xF000)};
    ASSERT_TRUE(bench.b.sharedQueues.create(wanted, basic).ok());
    const SrqNumber numbers[] = {SrqNumber(0x999), bench.queues[2], basic};
    bench.post(0, 2);
    bench.send(0, numbers[wrong]);
    bench.send(1, bench.queues[0]);
    bench.run();
    ASSERT_EQ(bench.a.completions.records.size(), 2u);
    for (const auto& record : bench.a.completions.records) {
      if (record.qp == bench.initiators[1]) {
        EXPECT_EQ(record.opcode, CqeOpcode::kRequester) << "the other one is not concerned";
      } else {
        EXPECT_EQ(record.syndrome, CqeSyndrome::kRemoteInvalidRequest);
      }
    }
    ASSERT_EQ(bench.b.events.events.size(), 1u) << "an event for the target, none of a last WQE";
    EXPECT_EQ(bench.b.events.events[0].type, EventType::kWqInvalidRequest);
    EXPECT_EQ(bench.b.events.events[0].object, bench.targets[0].value());
  }
}

TEST(Xrc, MessageStaysWithItsQueue) {
  XrcBench bench;
  for (const std::uint32_t which : {0U, 1U}) bench.post(which, 1);
  bench.a.wire.filter = [&](network::Packet& packet) {
    if (packet.operation == network::Operation::kSendLast) packet.sharedQueue = bench.queues[1];
    return true;
  };
  bench.send(0, bench.queues[0], 400);
  bench.run();
  ASSERT_EQ(bench.a.completions.records.size(), 1u);
  EXPECT_EQ(bench.a.completions.records[0].syndrome, CqeSyndrome::kRemoteInvalidRequest);
  ASSERT_EQ(bench.b.completions.records.size(), 1u) << "the entry that it had taken";
  EXPECT_EQ(bench.b.completions.records[0].syndrome, CqeSyndrome::kWorkRequestFlushed);
  EXPECT_EQ(bench.b.completions.records[0].cq, CqNumber(3));
}

TEST(Xrc, QueueWithAnEntryTakenIsInUse) {
  XrcBench bench;
  bench.post(0, 1);
  bench.a.wire.filter = [](network::Packet& packet) { return packet.operation == network::Operation::kSendFirst; };
  bench.send(0, bench.queues[0], 400);
  bench.run(microseconds(3));
  EXPECT_EQ(bench.b.sharedQueues.destroy(SrqKind::kXrc, bench.queues[0]).syndrome, Syndrome::kSrqInUse);
  EXPECT_TRUE(bench.b.sharedQueues.destroy(SrqKind::kXrc, bench.queues[1]).ok()) << "targets don't hold it";
  EXPECT_TRUE(bench.b.table.modify(bench.targets[0], QpTransition::kToReset, 0, {}).ok());
  EXPECT_TRUE(bench.b.sharedQueues.destroy(SrqKind::kXrc, bench.queues[0]).ok());
}

TEST(Xrc, EmptyQueueMeansRnr) {
  XrcBench bench;
  bench.post(1, 1);
  bench.send(0, bench.queues[0]);
  bench.run(microseconds(5));
  EXPECT_EQ(bench.b.responder.rnrNaks(), 1u);
  bench.post(0, 1);
  bench.run(microseconds(100));
  ASSERT_EQ(bench.b.completions.records.size(), 1u);
  EXPECT_EQ(bench.b.completions.records[0].cq, CqNumber(3));
}

TEST(Xrc, RequestWithoutItsSegmentIsMalformed) {
  XrcBench bench;
  bench.send(0, bench.queues[0]);
  bench.a.memory.bytes[XrcBench::kSendRings + 7] = 1;
  bench.run();
  ASSERT_EQ(bench.a.completions.records.size(), 1u);
  EXPECT_EQ(bench.a.completions.records[0].syndrome, CqeSyndrome::kLocalQpOperation);
  QpAttributes own = RcPair::attributes();
  own.service = QpService::kXrc;
  QpNumber number;
  EXPECT_EQ(bench.a.table.create(own, number).syndrome, Syndrome::kQpAttributeOutOfRange) << "with a queue of its own";
}

}  // namespace
}  // namespace hca::adapter::test

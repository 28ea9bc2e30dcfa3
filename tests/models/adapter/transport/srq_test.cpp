// Shared receive queues end to end on the data path.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

/// Queue pairs from A to B; all of B's share one receive queue, which the test keeps as software would.
class SharedBench {
 public:
  static constexpr std::uint64_t kRecord = 0x80, kRing = 0x8000, kSendRings = 0x10000, kData = 0x60000;
  static constexpr std::uint8_t kLogSendBlocks = 6;

  explicit SharedBench(unsigned pairs, std::uint8_t logSize = 3, std::uint8_t logStride = 5,
                       QpService service = QpService::kRc)
      : a(calendar, 0, 1), b(calendar, 1, 2), logSize_(logSize), logStride_(logStride) {
    a.wire.receiver = &b.dispatcher.port(1);
    b.wire.receiver = &a.dispatcher.port(1);
    for (std::uint32_t place = 0; place < entries(); ++place) link(place, (place + 1) % entries());
    EXPECT_TRUE(b.sharedQueues.create(srqAttributes(), srq).ok());
    for (unsigned i = 0; i < pairs; ++i) {
      QpAttributes wanted = RcPair::attributes();
      wanted.service = service;
      wanted.logSendQueueSize = kLogSendBlocks;
      wanted.receiveQueueType = RqType::kNone;
      wanted.buffer.pages = {BusAddress(kSendRings + i * 0x1000)};
      Sender sender;
      EXPECT_TRUE(a.table.create(wanted, sender.qp).ok());
      wanted.receiveQueueType = RqType::kSrq;
      wanted.srq = srq;
      EXPECT_TRUE(b.table.create(wanted, sender.peer).ok());
      RcPair::connect(a, sender.qp, sender.peer, 2, 0);
      RcPair::connect(b, sender.peer, sender.qp, 1, 0);
      senders.push_back(sender);
    }
  }

  [[nodiscard]] std::uint32_t entries() const { return 1U << logSize_; }
  SrqAttributes srqAttributes() const {
    SrqAttributes wanted;
    wanted.pd = PdNumber(7);
    wanted.logSize = logSize_;
    wanted.logStride = logStride_;
    for (std::uint64_t page = 0; page < 8; ++page) wanted.buffer.pages.push_back(BusAddress(kRing + page * 4096));
    wanted.doorbellRecord = BusAddress(kRecord);
    return wanted;
  }

  // ---- the list
  std::uint8_t* entry(std::uint32_t place) { return &b.memory.bytes[kRing + (std::size_t{place} << logStride_)]; }
  void link(std::uint32_t place, std::uint32_t next) {
    entry(place)[2] = static_cast<std::uint8_t>(next >> 8);
    entry(place)[3] = static_cast<std::uint8_t>(next);
  }
  /// Writes `pieces` data segments of `length` bytes altogether at kData + place * 256, and a terminator if one fits.
  void write(std::uint32_t place, std::uint32_t length, std::uint32_t pieces = 1) {
    std::vector<std::uint8_t> bytes;
    for (std::uint32_t i = 0; i < pieces; ++i) {
      RcPair::put(bytes, length / pieces, 4);
      RcPair::put(bytes, PlainTranslator::kKey, 4);
      RcPair::put(bytes, kData + place * 256 + i * (length / pieces), 8);
    }
    RcPair::put(bytes, 0, 4);
    RcPair::put(bytes, 0x100, 4);
    bytes.resize(std::min<std::size_t>(bytes.size(), (std::size_t{1} << logStride_) - 16));
    std::copy(bytes.begin(), bytes.end(), entry(place) + 16);
  }
  void publish(std::uint32_t count) {
    posted += count;
    b.memory.bytes[kRecord + 2] = static_cast<std::uint8_t>(posted >> 8);
    b.memory.bytes[kRecord + 3] = static_cast<std::uint8_t>(posted);
  }
  /// Posts `count` entries in the order in which they lie.
  void post(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) write((posted + i) % entries(), 64);
    publish(count);
  }

  /// SEND of `length` bytes of A's memory at kData.
  void send(std::size_t which, std::uint32_t length = 64) {
    Sender& sender = senders[which];
    std::vector<std::uint8_t> wqe;
    RcPair::put(wqe, (sender.posted & 0xFFFF) << 8 | 0x0A, 4);
    RcPair::put(wqe, std::uint64_t{sender.qp.value()} << 8 | 2, 4);
    RcPair::put(wqe, 0x08, 4);
    RcPair::put(wqe, 0, 4);
    RcPair::put(wqe, length, 4);
    RcPair::put(wqe, PlainTranslator::kKey, 4);
    RcPair::put(wqe, kData, 8);
    const std::uint64_t at = kSendRings + which * 0x1000 + (sender.posted++ % (1U << kLogSendBlocks)) * 64;
    std::copy(wqe.begin(), wqe.end(), a.memory.bytes.begin() + static_cast<std::ptrdiff_t>(at));
    wqe.resize(8);
    a.sendQueue.onDoorbell(UarIndex(RcPair::kUar), wqe);
  }
  void sendAndRun(std::size_t which, int count = 1) {
    for (int i = 0; i < count; ++i) {
      send(which);
      run();
    }
  }
  void run(Time span = microseconds(50)) { calendar.runUntil(calendar.now() + span); }

  [[nodiscard]] std::vector<std::uint32_t> counters() const {
    std::vector<std::uint32_t> all;
    for (const auto& record : b.completions.records) all.push_back(record.wqeCounter);
    return all;
  }
  [[nodiscard]] int events(EventType type) const {
    return static_cast<int>(std::count_if(b.events.events.begin(), b.events.events.end(),
                                          [type](const EventRecord& event) { return event.type == type; }));
  }
  void toError(std::size_t which) {
    EXPECT_TRUE(b.table.modify(senders[which].peer, QpTransition::kToError, 0, {}).ok());
  }

  struct Sender {
    QpNumber qp, peer;
    std::uint32_t posted = 0;
  };
  kernel::Calendar calendar;
  Side a, b;
  SrqNumber srq;
  std::vector<Sender> senders;
  std::uint32_t posted = 0;

 private:
  std::uint8_t logSize_, logStride_;
};

TEST(Srq, EntriesAreTakenInOrderByWhoeverComesFirst) {
  SharedBench bench(3);
  bench.post(6);
  // All three wait for the doorbell record.
  for (const std::size_t which : {2U, 0U, 1U}) bench.send(which);
  bench.run();
  bench.sendAndRun(1);
  bench.sendAndRun(1);
  bench.sendAndRun(0);
  EXPECT_EQ(bench.counters(), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(bench.b.translator.lastDomain, PdNumber(7)) << "the shared queue's";
  const std::size_t order[] = {2, 0, 1, 1, 1, 0};
  for (std::size_t i = 0; i < 6; ++i) {
    const CompletionRecord& record = bench.b.completions.records[i];
    EXPECT_EQ(record.qp, bench.senders[order[i]].peer);
    EXPECT_EQ(record.cq, CqNumber(2)) << "the queue pair's, not the shared queue's";
    EXPECT_EQ(record.userIndex, 0x77U) << "the same";
    EXPECT_EQ(record.request.queue, observe::WorkQueue::kSharedReceive);
    EXPECT_EQ(record.request.qp.value(), bench.srq.value());
    EXPECT_EQ(record.request.index, i);
  }
}

TEST(Srq, QueuePairWithoutUserIndexCompletesWithTheNumber) {
  SharedBench bench(0);
  QpAttributes wanted = RcPair::attributes();
  wanted.receiveQueueType = RqType::kSrq;
  wanted.srq = bench.srq;
  wanted.userIndex = 0xFFFFFF;
  CompletionRecord record;
  record.userIndex = wanted.userIndex;
  bench.b.sharedQueues.describe(bench.srq, record);
  EXPECT_EQ(record.userIndex, bench.srq.value());
}

TEST(Srq, ListDecidesWhichEntryIsNext) {
  SharedBench bench(1);
  const std::uint32_t order[] = {0, 5, 2, 7, 1};
  for (std::size_t i = 0; i + 1 < std::size(order); ++i) bench.link(order[i], order[i + 1]);
  for (const std::uint32_t place : order) bench.write(place, 64);
  bench.publish(5);
  for (std::uint32_t i = 0; i < 64; ++i)
    bench.a.memory.bytes[SharedBench::kData + i] = static_cast<std::uint8_t>(i + 1);
  bench.sendAndRun(0, 5);
  EXPECT_EQ(bench.counters(), (std::vector<std::uint32_t>{0, 5, 2, 7, 1}));
  for (const std::uint32_t place : order) EXPECT_EQ(bench.b.memory.bytes[SharedBench::kData + place * 256 + 63], 64);
}

// Case C30: WQEs of one to four blocks of 64 bytes, given back in any order, over ten rounds of the ring.
TEST(Srq, TenRoundsInRandomOrder) {
  SharedBench bench(2, 4, 8);
  std::mt19937 random(30);
  std::vector<std::uint32_t> busy, free, expected;
  for (std::uint32_t place = 0; place < bench.entries(); ++place) free.push_back(place);
  std::uint32_t sent = 0;
  while (sent < 10 * bench.entries()) {
    // As many as fit: the last free one stays, for it names no successor yet.
    while (free.size() > 1 && random() % 4 != 0) {
      const std::uint32_t pieces = 1 + random() % 15;
      bench.write(free.front(), pieces * 4, pieces);
      expected.push_back(free.front());
      busy.push_back(free.front());
      free.erase(free.begin());
      bench.publish(1);
    }
    while (sent < expected.size()) {
      bench.send(random() % 2, 4);
      ++sent;
    }
    bench.run(microseconds(20));
    ASSERT_EQ(bench.counters(), expected);
    std::shuffle(busy.begin(), busy.end(), random);
    for (std::size_t i = random() % (busy.size() + 1); i > 0; --i) {
      bench.link(free.back(), busy.back());
      free.push_back(busy.back());
      busy.pop_back();
    }
  }
  for (const auto& record : bench.b.completions.records) ASSERT_EQ(record.opcode, CqeOpcode::kResponderSend);
}

TEST(Srq, LimitRaisesOneEventBelowIt) {
  SharedBench bench(1);
  bench.post(8);
  EXPECT_TRUE(bench.b.sharedQueues.arm(SrqKind::kBasic, bench.srq, 4).ok());
  bench.sendAndRun(0, 4);
  EXPECT_EQ(bench.events(EventType::kSrqLimit), 0) << "four are left";
  bench.sendAndRun(0);
  ASSERT_EQ(bench.events(EventType::kSrqLimit), 1) << "three are left";
  EXPECT_EQ(bench.b.events.events[0].object, bench.srq.value());
  SrqAttributes now;
  EXPECT_TRUE(bench.b.sharedQueues.query(SrqKind::kBasic, bench.srq, now).ok());
  EXPECT_EQ(now.limit, 0);
  bench.sendAndRun(0);
  EXPECT_EQ(bench.events(EventType::kSrqLimit), 1) << "one shot";
  EXPECT_TRUE(bench.b.sharedQueues.arm(SrqKind::kBasic, bench.srq, 3).ok());
  bench.run();
  EXPECT_EQ(bench.events(EventType::kSrqLimit), 2) << "two are left: at once";
}

TEST(Srq, LimitCountsWhatWasPostedSince) {
  SharedBench bench(1);
  bench.post(4);
  EXPECT_TRUE(bench.b.sharedQueues.arm(SrqKind::kBasic, bench.srq, 4).ok());
  bench.run();
  bench.post(1);  // the adapter has not seen it
  bench.sendAndRun(0);
  EXPECT_EQ(bench.events(EventType::kSrqLimit), 0);
  bench.sendAndRun(0);
  EXPECT_EQ(bench.events(EventType::kSrqLimit), 1);
  EXPECT_EQ(bench.b.sharedQueues.arm(SrqKind::kBasic, bench.srq, 9).syndrome, Syndrome::kSrqLimitOutOfRange);
  EXPECT_EQ(bench.b.sharedQueues.arm(SrqKind::kXrc, bench.srq, 1).syndrome, Syndrome::kUnknownSrq);
}

TEST(Srq, QueuePairInErrorFlushesNothingAndSaysSoOnce) {
  SharedBench bench(2);
  bench.post(4);
  bench.sendAndRun(0);
  bench.toError(0);
  bench.run();
  EXPECT_EQ(bench.counters().size(), 1U);
  ASSERT_EQ(bench.events(EventType::kSrqLastWqe), 1);
  EXPECT_EQ(bench.b.events.events[0].object, bench.senders[0].peer.value());
  bench.toError(0);
  bench.run();
  EXPECT_EQ(bench.events(EventType::kSrqLastWqe), 1);
  bench.sendAndRun(1, 3);
  EXPECT_EQ(bench.counters(), (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(Srq, EntryOfAMessageUnderWayIsFlushedBeforeTheEvent) {
  SharedBench bench(2);
  bench.write(0, 1024);
  bench.write(1, 64);
  bench.publish(2);
  bench.a.wire.filter = [](network::Packet& packet) { return packet.operation == network::Operation::kSendFirst; };
  bench.send(0, 600);
  bench.run(microseconds(3));
  bench.a.wire.filter = nullptr;
  EXPECT_EQ(bench.b.sharedQueues.destroy(SrqKind::kBasic, bench.srq).syndrome, Syndrome::kSrqInUse);
  bench.toError(0);
  ASSERT_EQ(bench.b.completions.records.size(), 1U);
  EXPECT_EQ(bench.b.completions.records[0].syndrome, CqeSyndrome::kWorkRequestFlushed);
  EXPECT_EQ(bench.b.completions.records[0].wqeCounter, 0);
  EXPECT_EQ(bench.events(EventType::kSrqLastWqe), 1);
  bench.sendAndRun(1);
  EXPECT_EQ(bench.counters(), (std::vector<std::uint32_t>{0, 1}));
}

TEST(Srq, EmptyQueueMeansRnr) {
  SharedBench bench(2);
  bench.send(0);
  bench.run(microseconds(5));
  EXPECT_EQ(bench.b.responder.rnrNaks(), 1U);
  bench.post(1);
  bench.run(microseconds(100));
  EXPECT_EQ(bench.counters(), (std::vector<std::uint32_t>{0}));
  bench.send(1);
  bench.run(milliseconds(1));
  ASSERT_EQ(bench.a.completions.records.size(), 2U);
  EXPECT_EQ(bench.a.completions.records[1].syndrome, CqeSyndrome::kRnrRetryExceeded);
}

TEST(Srq, UnreliableMessageWithoutAnEntryIsDropped) {
  SharedBench bench(1, 3, 5, QpService::kUc);
  bench.sendAndRun(0);
  EXPECT_EQ(bench.b.responder.unreliableDrops(), 1U);
  bench.post(2);
  bench.sendAndRun(0, 2);
  EXPECT_EQ(bench.counters(), (std::vector<std::uint32_t>{0, 1}));
}

TEST(Srq, BrokenListEndsTheQueueAndThenWhoeverUsesIt) {
  SharedBench bench(2);
  bench.run();  // nothing is fetched ahead
  bench.write(0, 64);
  bench.link(0, 8);  // one behind the last
  bench.publish(2);
  bench.sendAndRun(0);
  EXPECT_EQ(bench.counters(), (std::vector<std::uint32_t>{0})) << "the entry itself is good";
  EXPECT_EQ(bench.events(EventType::kSrqCatastrophic), 1);
  SrqAttributes now;
  EXPECT_TRUE(bench.b.sharedQueues.query(SrqKind::kBasic, bench.srq, now).ok());
  EXPECT_TRUE(now.inError);
  EXPECT_EQ(bench.b.sharedQueues.arm(SrqKind::kBasic, bench.srq, 1).syndrome, Syndrome::kSrqInError);
  EXPECT_EQ(bench.events(EventType::kWqCatastrophic), 0) << "nobody needed an entry yet";
  bench.sendAndRun(0);
  bench.sendAndRun(1);
  EXPECT_EQ(bench.events(EventType::kWqCatastrophic), 2);
  EXPECT_EQ(bench.events(EventType::kSrqCatastrophic), 1);
  ASSERT_EQ(bench.a.completions.records.size(), 3U);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(bench.a.completions.records[i].syndrome, CqeSyndrome::kRemoteOperation);
  }
}

// The queue that waits for the very fetch that fails must not wait for ever.
TEST(Srq, UnreadableMemoryEndsTheQueue) {
  SharedBench bench(1);
  SrqAttributes wanted = bench.srqAttributes();
  wanted.doorbellRecord = BusAddress(1 << 20);  // beyond the end of memory
  SrqNumber broken;
  ASSERT_TRUE(bench.b.sharedQueues.create(wanted, broken).ok());
  ReceiveWqe wqe;
  const QueuePair& qp = *bench.b.table.find(bench.senders[0].peer);
  EXPECT_EQ(bench.b.sharedQueues.take(qp, broken, wqe), SrqEngine::Take::kPending);
  bench.run();
  EXPECT_EQ(bench.events(EventType::kSrqCatastrophic), 1);
  EXPECT_EQ(bench.b.sharedQueues.take(qp, broken, wqe), SrqEngine::Take::kFailed);
}

TEST(Srq, CreateAndDestroyAreChecked) {
  SharedBench bench(1);
  SrqEngine& queues = bench.b.sharedQueues;
  const auto refusal = [&](auto change) {
    SrqAttributes wanted = bench.srqAttributes();
    change(wanted);
    SrqNumber number;
    return queues.create(wanted, number).syndrome;
  };
  EXPECT_EQ(refusal([](SrqAttributes& srq) { srq.logSize = 16; }), Syndrome::kSrqSizeOutOfRange);
  EXPECT_EQ(refusal([](SrqAttributes& srq) { srq.logStride = 4; }), Syndrome::kSrqSizeOutOfRange);
  EXPECT_EQ(refusal([](SrqAttributes& srq) { srq.logSize = 11; }), Syndrome::kSrqPagesWrong) << "nine pages";
  EXPECT_EQ(refusal([](SrqAttributes& srq) { srq.doorbellRecord = BusAddress(2); }), Syndrome::kSrqDoorbellRecordBad);
  EXPECT_EQ(refusal([](SrqAttributes& srq) { srq.cyclic = true; }), Syndrome::kSrqFormatUnsupported);
  EXPECT_EQ(refusal([](SrqAttributes& srq) { srq.limit = 9; }), Syndrome::kSrqLimitOutOfRange);
  EXPECT_EQ(refusal([](SrqAttributes& srq) {
              srq.kind = SrqKind::kXrc;
              srq.cq = CqNumber(99);
            }),
            Syndrome::kSrqCqUnknown);
  QpAttributes pair = RcPair::attributes();
  pair.receiveQueueType = RqType::kSrq;
  pair.srq = SrqNumber(bench.srq.value() + 1);
  QpNumber number;
  const int attached = bench.b.completions.attached;
  EXPECT_EQ(bench.b.table.create(pair, number).syndrome, Syndrome::kQpSrqUnknown);
  EXPECT_EQ(bench.b.completions.attached, attached) << "nothing is held by a refused create";
  EXPECT_EQ(queues.destroy(SrqKind::kBasic, bench.srq).syndrome, Syndrome::kSrqInUse);
  EXPECT_TRUE(bench.b.table.destroy(bench.senders[0].peer).ok());
  EXPECT_TRUE(queues.destroy(SrqKind::kBasic, bench.srq).ok());
  EXPECT_EQ(queues.destroy(SrqKind::kBasic, bench.srq).syndrome, Syndrome::kUnknownSrq);
}

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

// Shared receive queues end to end on the data path.
#include <gtest/gtest.h>

#include <random>

#include "tests/models/adapter/transport/srq_bench.h"

namespace hca::adapter::test {
namespace {

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

// A SEND over an unreliable connection of which a packet got lost had taken an entry that others may need.
TEST(Srq, EntryOfAMessageThatBrokeOffIsCompletedAsAborted) {
  SharedBench bench(2, 3, 5, QpService::kUc);
  for (std::uint32_t place = 0; place < 3; ++place) bench.write(place, 600);
  bench.publish(3);
  int count = 0;
  bench.a.wire.filter = [&](network::Packet&) { return ++count != 2; };
  bench.send(0, 600);  // 3 packets, whose second is lost
  bench.run();
  ASSERT_EQ(bench.b.completions.records.size(), 1U) << "the third packet shows it";
  bench.sendAndRun(1);
  bench.sendAndRun(0);
  EXPECT_EQ(bench.counters(), (std::vector<std::uint32_t>{0, 1, 2}));
  const CompletionRecord aborted = bench.b.completions.records[0];
  EXPECT_EQ(aborted.opcode, CqeOpcode::kResponderError);
  EXPECT_EQ(aborted.syndrome, CqeSyndrome::kRemoteAborted);
  EXPECT_EQ(aborted.vendorError, 0x99);
  EXPECT_EQ(aborted.qp, bench.senders[0].peer);
  EXPECT_FALSE(bench.b.completions.records[2].isError()) << "the queue pair goes on";
  EXPECT_TRUE(bench.b.events.events.empty());
}

}  // namespace
}  // namespace hca::adapter::test

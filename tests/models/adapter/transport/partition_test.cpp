// Partition keys: whom a packet may reach, and what is told of one that may not.
#include <gtest/gtest.h>

#include "models/network/partition_keys.h"
#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

using Options = RcPair::Options;

constexpr QpTransition kFirst = QpTransition::kResetToInit;

/// A pair whose sides have tables of partition keys, and whose queue pairs have the keys at these indices.
struct Partitioned : RcPair {
  Partitioned(std::vector<std::uint16_t> keysOfA, std::uint16_t indexA, std::vector<std::uint16_t> keysOfB,
              std::uint16_t indexB, QpService service = QpService::kRc)
      : RcPair(0, service) {
    a.routes.port(1).partitionKeys = std::move(keysOfA);
    b.routes.port(1).partitionKeys = std::move(keysOfB);
    choose(a, qpA, qpB, 2, indexA);
    choose(b, qpB, qpA, 1, indexB);
  }
  static void choose(Side& side, QpNumber qp, QpNumber peer, std::uint16_t lid, std::uint16_t index) {
    EXPECT_TRUE(side.table.modify(qp, QpTransition::kToReset, 0, {}).ok());
    RcPair::connect(side, qp, peer, lid, 0);
    side.table.find(qp)->attributes.path.partitionIndex = index;
  }
  [[nodiscard]] bool talks() {
    fill(100);
    post(100);
    run(microseconds(2));
    return arrived(100);
  }
};

Options send(bool datagram) {
  Options options;
  options.opcode = 0x0A;
  options.datagram = datagram;
  return options;
}

TEST(PartitionKeys, MatchInTheirLowBitsUnlessBothAreLimited) {
  EXPECT_TRUE(network::partitionsMatch(0xFFFF, 0xFFFF));
  EXPECT_TRUE(network::partitionsMatch(0x8001, 0x0001));
  EXPECT_TRUE(network::partitionsMatch(0x0001, 0x8001));
  EXPECT_FALSE(network::partitionsMatch(0x0001, 0x0001)) << "two limited members";
  EXPECT_FALSE(network::partitionsMatch(0x8001, 0x8002));
  EXPECT_FALSE(network::partitionsMatch(0x8001, 0xC001)) << "the highest bit of the base";
  EXPECT_FALSE(network::partitionsMatch(0x8000, 0x8000)) << "no base: no key";
  EXPECT_FALSE(network::partitionsMatch(0, 0));
}

TEST(PartitionKeys, AreReadFromAList) {
  using Keys = std::vector<std::uint16_t>;
  EXPECT_EQ(network::parsePartitionKeys("0xffff"), Keys{0xFFFF});
  EXPECT_EQ(network::parsePartitionKeys(" 0x8001 ,0, 0X2"), (Keys{0x8001, 0, 2}));
  for (const char* wrong : {"", "0x", "8001", "0x10000", "0x1,", "0x1 0x2", "zero"}) {
    EXPECT_FALSE(network::parsePartitionKeys(wrong)) << wrong;
  }
  std::string list = "0x1";
  for (int i = 1; i < 128; ++i) list += ",0x1";
  EXPECT_EQ(network::parsePartitionKeys(list)->size(), 128U);
  EXPECT_FALSE(network::parsePartitionKeys(list + ",0x1"));
}

TEST(Partition, QueuePairsOfOnePartitionTalkWhateverTheIndices) {
  Partitioned pair({0xFFFF, 0x8001}, 1, {0xFFFF, 0x8005, 0x0001}, 2);
  EXPECT_TRUE(pair.talks());
  EXPECT_EQ(pair.b.dispatcher.violations(1).partition(), 0U);
}

TEST(Partition, TwoLimitedMembersDoNotTalk) {
  Partitioned pair({0x0001}, 0, {0x0001}, 0);
  EXPECT_FALSE(pair.talks());
  EXPECT_GT(pair.b.dispatcher.drops().wrongPartition, 0U);
}

TEST(Partition, AnEmptyEntryOfTheTableReachesNobody) {
  Partitioned pair({0xFFFF}, 1, {0xFFFF}, 0);
  EXPECT_FALSE(pair.talks());
}

TEST(Partition, AMismatchIsDroppedSilentlyCountedAndEndsInRetries) {
  Partitioned pair({0x8001}, 0, {0x8001, 0x8002}, 1);
  pair.fill(100);
  pair.post(100);
  pair.run(milliseconds(1));
  EXPECT_EQ(pair.b.wire.sent, 0);
  ASSERT_EQ(pair.a.completions.records.size(), 1U);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kTransportRetryExceeded);
  EXPECT_EQ(pair.b.dispatcher.drops().wrongPartition, 3U) << "the packet, and two retries";
  EXPECT_EQ(pair.b.dispatcher.violations(1).partition(), 3U);
  EXPECT_EQ(pair.b.dispatcher.violations(2).partition(), 0U);
}

TEST(Partition, ViolationsOfAPortStopAtTheirLargestValue) {
  PortViolations violations;
  for (int i = 0; i < 0xFFFF; ++i) violations.countPartition();
  EXPECT_EQ(violations.partition(), 0xFFFF);
  violations.countPartition();
  EXPECT_EQ(violations.partition(), 0xFFFF);
  EXPECT_EQ(violations.queueKey(), 0);
}

TEST(Partition, AReceiveTellsTheIndexAtItsOwnSide) {
  for (const QpService service : {QpService::kRc, QpService::kUd}) {
    Partitioned pair({0xFFFF, 0x8001}, 1, {0, 0, 0, 0x0001}, 3, service);
    pair.postReceive(200);
    pair.post(100, send(service == QpService::kUd));
    pair.run(microseconds(3));
    ASSERT_EQ(pair.b.completions.records.size(), 1U);
    EXPECT_EQ(pair.b.completions.records[0].immediateOrKey, 3U);
  }
}

TEST(Partition, ADatagramWithAWrongQueueKeyIsCounted) {
  RcPair pair(0, QpService::kUd);
  Options options = send(true);
  options.queueKey = 0x22;
  pair.post(100, options);
  pair.run(microseconds(3));
  EXPECT_EQ(pair.b.dispatcher.violations(1).queueKey(), 1U);
}

TEST(Partition, AnIndexBeyondTheTableIsRefused) {
  RcPair pair;
  const QpNumber qp = RcPair::create(pair.a, QpService::kRc);
  QpAttributes to;
  to.path.partitionIndex = 128;
  EXPECT_EQ(pair.a.table.modify(qp, kFirst, 0, to).syndrome, Syndrome::kQpPartitionOutOfRange);
  to.path.partitionIndex = 127;
  EXPECT_TRUE(pair.a.table.modify(qp, kFirst, 0, to).ok()) << "its entry may be filled later";
}

}  // namespace
}  // namespace hca::adapter::test

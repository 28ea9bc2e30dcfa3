// Queue pairs of management: 0 and 1 in packets, other numbers in commands and completions.
#include <gtest/gtest.h>

#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

using Options = RcPair::Options;

Options to(std::uint32_t number) {
  Options options;
  options.opcode = 0x0A;  // SEND
  options.datagram = true;
  options.remoteQp = number;
  return options;
}
CommandResult bring(Side& side, QpNumber qp, std::uint8_t port) {
  QpAttributes attributes;
  attributes.path.port = port;
  return side.table.modify(qp, QpTransition::kResetToInit, 0, attributes);
}
void expectTaken(const CommandResult& result) {
  EXPECT_EQ(result.status, CommandStatus::kResourceBusy);
  EXPECT_EQ(result.syndrome, Syndrome::kQpSpecialTaken);
}

TEST(SpecialQueuePair, PacketsNameBothByTheirKind) {
  for (const QpService service : {QpService::kQp0, QpService::kQp1}) {
    const std::uint32_t kind = service == QpService::kQp0 ? 0 : 1;
    RcPair pair(0, service);
    EXPECT_GT(pair.qpA.value(), 1U);
    network::Packet seen;
    pair.a.wire.filter = [&](network::Packet& packet) {
      seen.sourceQp = packet.sourceQp;
      seen.destinationQp = packet.destinationQp;
      seen.service = packet.service;
      return true;
    };
    pair.postReceive(40 + 64);
    pair.fill(64);
    pair.post(64, to(kind));
    pair.run();
    EXPECT_EQ(seen.sourceQp, QpNumber(kind));
    EXPECT_EQ(seen.destinationQp, QpNumber(kind));
    EXPECT_EQ(seen.service, network::Service::kUd);
    ASSERT_EQ(pair.b.completions.records.size(), 1u);
    EXPECT_EQ(pair.b.completions.records[0].remoteQp, QpNumber(kind));
    EXPECT_EQ(pair.b.completions.records[0].qp, pair.qpB) << "its own number";
    ASSERT_EQ(pair.a.completions.records.size(), 1u);
    EXPECT_EQ(pair.a.completions.records[0].qp, pair.qpA);
    EXPECT_EQ(std::memcmp(&pair.a.memory.bytes[RcPair::kData], &pair.b.memory.bytes[RcPair::kData + 40], 64), 0);
  }
}

TEST(SpecialQueuePair, TheOtherKindIsNotReached) {
  RcPair pair(0, QpService::kQp1);
  pair.postReceive(104);
  pair.post(64, to(0));
  pair.run();
  EXPECT_TRUE(pair.b.completions.records.empty());
  EXPECT_EQ(pair.b.dispatcher.drops().unknownQp, 1u);
}

TEST(SpecialQueuePair, OrdinaryDatagramsReachItWithTheRightQueueKeyAlone) {
  RcPair pair(0, QpService::kUd);
  const QpNumber general = RcPair::create(pair.b, QpService::kQp1);
  RcPair::connect(pair.b, general, QpNumber(), 1, 0);
  pair.postReceive(104);  // the rings are at the same place
  pair.post(64, to(1));
  pair.run();
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.completions.records[0].qp, general);
  EXPECT_EQ(pair.b.completions.records[0].remoteQp, pair.qpA) << "an ordinary source";
  Options wrong = to(1);
  wrong.queueKey = 0x22222222;
  pair.postReceive(104);
  pair.post(64, wrong);
  pair.run();
  EXPECT_EQ(pair.b.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.dispatcher.drops().wrongQueueKey, 1u);
}

TEST(SpecialQueuePair, APortHasOneOfEachKind) {
  RcPair pair(0, QpService::kQp1);
  const QpNumber second = RcPair::create(pair.b, QpService::kQp1);
  expectTaken(bring(pair.b, second, 1));
  QpAttributes attributes;
  ASSERT_TRUE(pair.b.table.query(second, attributes).ok());
  EXPECT_EQ(attributes.state, QpState::kReset);
  EXPECT_TRUE(bring(pair.b, RcPair::create(pair.b, QpService::kQp0), 1).ok()) << "of the other kind";
  EXPECT_TRUE(bring(pair.b, second, 2).ok()) << "of the other port";
  expectTaken(bring(pair.b, RcPair::create(pair.b, QpService::kQp1), 2));
  EXPECT_TRUE(bring(pair.b, RcPair::create(pair.b, QpService::kUd), 1).ok()) << "an ordinary one";
}

TEST(SpecialQueuePair, ItsPlaceIsFreeOnceItIsResetOrDestroyedAndNotInError) {
  RcPair pair(0, QpService::kQp1);
  const QpNumber second = RcPair::create(pair.b, QpService::kQp1);
  ASSERT_TRUE(pair.b.table.modify(pair.qpB, QpTransition::kToError, 0, {}).ok());
  expectTaken(bring(pair.b, second, 1));
  ASSERT_TRUE(pair.b.table.modify(pair.qpB, QpTransition::kToReset, 0, {}).ok());
  ASSERT_TRUE(bring(pair.b, second, 1).ok());
  expectTaken(bring(pair.b, pair.qpB, 1));
  ASSERT_TRUE(pair.b.table.destroy(second).ok());
  EXPECT_TRUE(bring(pair.b, pair.qpB, 1).ok());
}

TEST(SpecialQueuePair, DestroyingOneThatHasNoPlaceLeavesTheOthers) {
  RcPair pair(0, QpService::kQp1);
  ASSERT_TRUE(pair.b.table.destroy(RcPair::create(pair.b, QpService::kQp1)).ok());
  pair.postReceive(104);
  pair.post(64, to(1));
  pair.run();
  EXPECT_EQ(pair.b.completions.records.size(), 1u);
}

TEST(SpecialQueuePair, EachPortsPacketsReachItsOwn) {
  RcPair pair(0, QpService::kQp1);
  const QpNumber second = RcPair::create(pair.b, QpService::kQp1);
  RcPair::connect(pair.b, second, QpNumber(), 1, 0, 2);
  pair.postReceive(104);
  pair.post(64, to(1));
  pair.run();
  ASSERT_EQ(pair.b.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.completions.records[0].qp, pair.qpB);
  pair.a.wire.receiver = &pair.b.dispatcher.port(2);
  pair.receiveIndex = 0;
  pair.postReceive(104);
  pair.post(64, to(1));
  pair.run();
  ASSERT_EQ(pair.b.completions.records.size(), 2u);
  EXPECT_EQ(pair.b.completions.records[1].qp, second);
}

TEST(SpecialQueuePair, SubnetManagementKnowsNoPartitionAndGeneralServicesAllOfThePort) {
  const struct {
    QpService service;
    std::uint16_t key;
    bool arrives;
  } kCases[] = {{QpService::kQp0, 0x8003, true},
                {QpService::kQp1, 0x8001, true},
                {QpService::kQp1, 0x8002, true},
                {QpService::kQp1, 0x8003, false}};
  for (const auto& each : kCases) {
    RcPair pair(0, each.service);
    pair.a.routes.port(1).partitionKeys = {each.key};
    pair.b.routes.port(1).partitionKeys = {0x8001, 0x0002};
    pair.postReceive(104);
    pair.post(64, to(each.service == QpService::kQp0 ? 0 : 1));
    pair.run();
    EXPECT_EQ(pair.b.completions.records.size(), each.arrives ? 1u : 0u) << each.key;
    EXPECT_EQ(pair.b.dispatcher.drops().wrongPartition, each.arrives ? 0u : 1u) << each.key;
  }
}

TEST(SpecialQueuePair, NoneAnswersWhereThereIsNone) {
  RcPair pair(0, QpService::kUd);
  for (const std::uint32_t number : {0U, 1U}) pair.post(64, to(number));
  pair.run();
  EXPECT_TRUE(pair.b.completions.records.empty());
  EXPECT_EQ(pair.b.dispatcher.drops().unknownQp, 2u);
}

}  // namespace
}  // namespace hca::adapter::test

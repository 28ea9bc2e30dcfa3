// Datagrams to a group: a copy for every member.
#include <gtest/gtest.h>

#include "models/adapter/transport/multicast_groups.h"
#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

using Options = RcPair::Options;

network::Gid groupOf(std::uint8_t last) {
  network::Gid group{0xFF, 0x12};
  group[15] = last;
  return group;
}

/// B has a second queue pair with receives of its own.
struct GroupPair : RcPair {
  static constexpr std::uint64_t kOtherRecord = kRecord + 0x40;
  GroupPair() : RcPair(0, QpService::kUd) {
    QpAttributes wanted = attributes();
    wanted.service = QpService::kUd;
    wanted.doorbellRecord = BusAddress(kOtherRecord);
    EXPECT_TRUE(b.table.create(wanted, other).ok());
    connect(b, other, other, 1, 0);
  }
  void postToOther() { b.memory.bytes[kOtherRecord + 3] = static_cast<std::uint8_t>(++otherReceives); }
  void send(std::uint8_t group, std::uint32_t qp = 0xFFFFFF, bool globalRoute = true) {
    Options options;
    options.opcode = 0x0A;
    options.datagram = true;
    options.remoteLid = 0xC001;
    options.remoteQp = qp;
    options.globalRoute = globalRoute;
    options.remoteGid = groupOf(group);
    post(64, options);
    run();
  }
  QpNumber other;
  int otherReceives = 0;
};

TEST(Multicast, EveryMemberGetsItsCopyWithTheGlobalRoute) {
  GroupPair pair;
  EXPECT_TRUE(pair.b.table.attachMulticast(pair.qpB, groupOf(1)).ok());
  EXPECT_TRUE(pair.b.table.attachMulticast(pair.other, groupOf(1)).ok());
  pair.postReceive(104);
  pair.postToOther();
  pair.fill(64);
  pair.send(1);
  const auto& records = pair.b.completions.records;
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].qp, pair.qpB);
  EXPECT_EQ(records[1].qp, pair.other);
  for (const CompletionRecord& record : records) {
    EXPECT_EQ(record.byteCount, 104u);
    EXPECT_TRUE(record.globalRouteInBuffer);
    EXPECT_EQ(record.remoteQp, pair.qpA);
  }
  EXPECT_EQ(std::memcmp(&pair.b.memory.bytes[RcPair::kData + 40], &pair.a.memory.bytes[RcPair::kData], 64), 0);
  EXPECT_EQ(pair.b.memory.bytes[RcPair::kData + 39], 1) << "the group's GID";
  EXPECT_EQ(pair.a.wire.sent, 1);
}

TEST(Multicast, MissingReceiveLosesThatCopyAlone) {
  GroupPair pair;
  EXPECT_TRUE(pair.b.table.attachMulticast(pair.qpB, groupOf(1)).ok());
  EXPECT_TRUE(pair.b.table.attachMulticast(pair.other, groupOf(1)).ok());
  pair.postToOther();
  pair.postToOther();
  pair.send(1);
  pair.postReceive(104);
  pair.send(1);
  const auto& records = pair.b.completions.records;
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].qp, pair.other);
  EXPECT_EQ(pair.b.responder.unreliableDrops(), 1u);
}

TEST(Multicast, WhatNobodyHereJoinedIsFilteredAndCounted) {
  GroupPair pair;
  EXPECT_TRUE(pair.b.table.attachMulticast(pair.qpB, groupOf(1)).ok());
  pair.postReceive(104);
  pair.send(2);
  EXPECT_EQ(pair.b.dispatcher.drops().notMember, 1u);
  pair.send(1, pair.qpB.value());
  EXPECT_EQ(pair.b.dispatcher.drops().notMember, 2u) << "to one queue pair by a LID of many";
  pair.send(1, 0xFFFFFF, false);
  EXPECT_EQ(pair.b.dispatcher.drops().notMember, 3u) << "without a global route";
  EXPECT_TRUE(pair.b.table.detachMulticast(pair.qpB, groupOf(1)).ok());
  pair.send(1);
  EXPECT_EQ(pair.b.dispatcher.drops().notMember, 4u);
  EXPECT_TRUE(pair.b.completions.records.empty());
}

// Linux drops such packets of its own in drivers/infiniband/ulp/ipoib/ipoib_ib.c ("that this interface sent"): adapters
// give a sender that is a member its own.
TEST(Multicast, MembersOfTheSendersPortAreServedTooTheSenderIncluded) {
  GroupPair pair;
  EXPECT_TRUE(pair.a.table.attachMulticast(pair.qpA, groupOf(1)).ok());
  pair.postReceiveAt(pair.a, 104, RcPair::kData + 0x1000, PlainTranslator::kKey);
  pair.send(1);
  ASSERT_EQ(pair.a.completions.records.size(), 2u);
  EXPECT_EQ(pair.a.completions.records[1].opcode, CqeOpcode::kResponderSend);
  EXPECT_EQ(pair.a.completions.records[1].remoteQp, pair.qpA);
  EXPECT_EQ(pair.a.wire.sent, 1) << "the others get theirs";
}

TEST(Multicast, DestroyedQueuePairLeavesItsGroups) {
  GroupPair pair;
  EXPECT_TRUE(pair.b.table.attachMulticast(pair.other, groupOf(1)).ok());
  EXPECT_TRUE(pair.b.table.destroy(pair.other).ok());
  EXPECT_EQ(pair.b.table.groups().members(groupOf(1)), nullptr);
}

TEST(Multicast, OnlyDatagramQueuePairsThatExistJoin) {
  RcPair pair;
  EXPECT_EQ(pair.a.table.attachMulticast(pair.qpA, groupOf(1)).syndrome, Syndrome::kQpServiceUnsupported);
  EXPECT_EQ(pair.a.table.attachMulticast(QpNumber(0x999), groupOf(1)).syndrome, Syndrome::kUnknownQp);
  EXPECT_EQ(pair.a.table.detachMulticast(QpNumber(0x999), groupOf(1)).syndrome, Syndrome::kUnknownQp);
}

TEST(MulticastGroups, KeepMembersOnceAndUpToTheLimit) {
  MulticastGroups groups;
  EXPECT_EQ(groups.attach(QpNumber(1), network::Gid{0xFE, 0x80}).syndrome, Syndrome::kMulticastGidBad);
  EXPECT_EQ(groups.detach(QpNumber(1), groupOf(1)).syndrome, Syndrome::kNotInMulticastGroup);
  EXPECT_TRUE(groups.attach(QpNumber(1), groupOf(2)).ok());
  EXPECT_TRUE(groups.attach(QpNumber(1), groupOf(1)).ok());
  EXPECT_TRUE(groups.attach(QpNumber(1), groupOf(1)).ok());
  EXPECT_EQ(groups.members(groupOf(1))->size(), 1u);
  EXPECT_EQ(groups.detach(QpNumber(2), groupOf(1)).syndrome, Syndrome::kNotInMulticastGroup);
  EXPECT_TRUE(groups.detach(QpNumber(1), groupOf(1)).ok());
  EXPECT_EQ(groups.members(groupOf(1)), nullptr);
  for (std::uint32_t qp = 2; qp <= MulticastGroups::kMaxMembers; ++qp) {
    ASSERT_TRUE(groups.attach(QpNumber(qp), groupOf(2)).ok());
  }
  const CommandResult full = groups.attach(QpNumber(MulticastGroups::kMaxMembers + 1), groupOf(2));
  EXPECT_EQ(full.status, CommandStatus::kExceedLimit);
  EXPECT_EQ(full.syndrome, Syndrome::kMulticastLimit);
}

}  // namespace
}  // namespace hca::adapter::test

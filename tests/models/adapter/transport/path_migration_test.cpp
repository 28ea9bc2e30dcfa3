// Automatic path migration between the two ports of two adapters.
#include <gtest/gtest.h>

#include "models/wire/queue_commands.h"
#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

constexpr std::uint16_t kAlternateOfA = 1 + Side::kSecondLid;
constexpr std::uint16_t kAlternateOfB = 2 + Side::kSecondLid;
using Optional = wire::QpOptional;

/// A pair with the second ports as alternate path.
struct WithAlternate : RcPair {
  explicit WithAlternate(QpService service = QpService::kRc) : RcPair(0, service) {}

  static CommandResult rearm(Side& side, QpNumber qp, std::uint16_t alternateLid) {
    QpAttributes to;
    to.alternatePath.port = 2;
    to.alternatePath.remoteLid = Lid(alternateLid);
    to.alternatePath.ackTimeout = 1;
    to.migration = MigrationState::kRearm;
    return side.table.modify(qp, QpTransition::kReadyToSendToReadyToSend,
                             Optional::kAlternatePath | Optional::kPathMigration, to);
  }
  void rearmBoth() {
    EXPECT_TRUE(rearm(a, qpA, kAlternateOfB).ok());
    EXPECT_TRUE(rearm(b, qpB, kAlternateOfA).ok());
  }
  /// Exchanges a message, so that each learns that the other is ready.
  void arm() {
    rearmBoth();
    write();
    EXPECT_EQ(stateOf(a, qpA), MigrationState::kArmed);
    EXPECT_EQ(stateOf(b, qpB), MigrationState::kArmed);
  }
  void write() {
    fill(100);
    post(100);
    run();
  }
  static MigrationState stateOf(Side& side, QpNumber qp) { return side.table.find(qp)->attributes.migration; }
  static CommandResult setMigration(Side& side, QpNumber qp, MigrationState state) {
    QpAttributes to;
    to.migration = state;
    return side.table.modify(qp, QpTransition::kReadyToSendToReadyToSend, Optional::kPathMigration, to);
  }
  /// Every completion so far was good, and there are `count`.
  void expectCompletions(std::size_t count) const {
    ASSERT_EQ(a.completions.records.size(), count);
    for (const CompletionRecord& record : a.completions.records) EXPECT_FALSE(record.isError());
  }
};

EventType onlyEvent(const Side& side) {
  EXPECT_EQ(side.events.events.size(), 1U);
  return side.events.events.empty() ? EventType::kCompletion : side.events.events.front().type;
}

TEST(PathMigration, AConnectionIsMigratedUntilItIsRearmed) {
  WithAlternate pair;
  bool migrated = false;
  pair.a.wire.filter = [&](network::Packet& packet) {
    migrated = packet.migrated;
    return true;
  };
  pair.write();
  EXPECT_TRUE(migrated);
  ASSERT_TRUE(WithAlternate::rearm(pair.a, pair.qpA, kAlternateOfB).ok());
  pair.write();
  EXPECT_FALSE(migrated);
  EXPECT_EQ(WithAlternate::stateOf(pair.a, pair.qpA), MigrationState::kRearm) << "the peer is not ready";
  ASSERT_TRUE(WithAlternate::rearm(pair.b, pair.qpB, kAlternateOfA).ok());
  pair.write();
  EXPECT_EQ(WithAlternate::stateOf(pair.a, pair.qpA), MigrationState::kArmed);
  EXPECT_EQ(WithAlternate::stateOf(pair.b, pair.qpB), MigrationState::kArmed);
  EXPECT_TRUE(pair.a.events.events.empty());
}

TEST(PathMigration, UsedUpRetriesMoveBothSidesToTheOtherPath) {
  WithAlternate pair;
  pair.arm();
  pair.a.wire.filter = pair.b.wire.filter = [](network::Packet&) { return false; };
  std::fill_n(&pair.b.memory.bytes[RcPair::kData], 100, std::uint8_t{0});
  pair.fill(100);
  pair.post(100);
  pair.run(milliseconds(1));
  EXPECT_TRUE(pair.arrived(100));
  pair.expectCompletions(2);
  EXPECT_EQ(onlyEvent(pair.a), EventType::kPathMigrated);
  EXPECT_EQ(onlyEvent(pair.b), EventType::kPathMigrated);
  EXPECT_EQ(pair.a.events.events[0].object, pair.qpA.value());
  EXPECT_GT(pair.a.secondWire.sent, 0);
  QpAttributes now;
  ASSERT_TRUE(pair.a.table.query(pair.qpA, now).ok());
  EXPECT_EQ(now.migration, MigrationState::kMigrated);
  EXPECT_EQ(now.path.port, 2);
  EXPECT_EQ(now.path.remoteLid, Lid(kAlternateOfB));
  EXPECT_EQ(now.alternatePath.port, 1);
}

TEST(PathMigration, WithoutBeingArmedUsedUpRetriesAreAnError) {
  WithAlternate pair;
  ASSERT_TRUE(WithAlternate::rearm(pair.a, pair.qpA, kAlternateOfB).ok());
  pair.a.wire.filter = [](network::Packet&) { return false; };
  pair.post(100);
  pair.run(milliseconds(1));
  ASSERT_EQ(pair.a.completions.records.size(), 1U);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kTransportRetryExceeded);
}

TEST(PathMigration, SoftwareMovesAConnectionAndThePeerFollows) {
  for (const QpService service : {QpService::kRc, QpService::kUc}) {
    WithAlternate pair(service);
    pair.rearmBoth();
    pair.write();
    if (service == QpService::kUc) pair.a.table.find(pair.qpA)->attributes.migration = MigrationState::kArmed;
    ASSERT_TRUE(WithAlternate::setMigration(pair.a, pair.qpA, MigrationState::kMigrated).ok());
    EXPECT_EQ(onlyEvent(pair.a), EventType::kPathMigrated);
    EXPECT_TRUE(pair.b.events.events.empty());
    const int before = pair.a.wire.sent;
    pair.write();
    EXPECT_EQ(pair.a.wire.sent, before);
    EXPECT_EQ(onlyEvent(pair.b), EventType::kPathMigrated);
    pair.expectCompletions(2);
  }
}

TEST(PathMigration, AMigratedConnectionCanBeArmedAgainAndGoBack) {
  WithAlternate pair;
  pair.arm();
  ASSERT_TRUE(WithAlternate::setMigration(pair.a, pair.qpA, MigrationState::kMigrated).ok());
  pair.write();
  ASSERT_TRUE(WithAlternate::setMigration(pair.a, pair.qpA, MigrationState::kRearm).ok());
  ASSERT_TRUE(WithAlternate::setMigration(pair.b, pair.qpB, MigrationState::kRearm).ok());
  pair.write();
  pair.a.secondWire.filter = [](network::Packet&) { return false; };
  const int before = pair.a.wire.sent;
  pair.fill(100);
  pair.post(100);
  pair.run(milliseconds(1));
  pair.expectCompletions(4);
  EXPECT_GT(pair.a.wire.sent, before);
  EXPECT_EQ(pair.a.events.events.size(), 2U);
}

TEST(PathMigration, AMoveToAnUnknownPathIsReportedOnceAndNotFollowed) {
  WithAlternate pair;
  pair.arm();
  // B's other path leads to somebody else.
  pair.b.table.find(pair.qpB)->attributes.alternatePath.remoteLid = Lid(0x77);
  ASSERT_TRUE(WithAlternate::setMigration(pair.a, pair.qpA, MigrationState::kMigrated).ok());
  pair.post(100);
  pair.run(milliseconds(1));
  EXPECT_EQ(onlyEvent(pair.b), EventType::kPathMigrationFailed);
  EXPECT_EQ(pair.b.events.events[0].object, pair.qpB.value());
  EXPECT_EQ(pair.b.dispatcher.drops().wrongPath, 3U) << "the packet, and two retries";
  EXPECT_EQ(WithAlternate::stateOf(pair.b, pair.qpB), MigrationState::kArmed);
  ASSERT_EQ(pair.a.completions.records.size(), 2U);
  EXPECT_EQ(pair.a.completions.records[1].syndrome, CqeSyndrome::kTransportRetryExceeded);
}

TEST(PathMigration, WhatSoftwareMayNotAskForIsRefused) {
  WithAlternate pair;
  const auto syndromeOf = [&](MigrationState state) {
    return WithAlternate::setMigration(pair.a, pair.qpA, state).syndrome;
  };
  EXPECT_EQ(syndromeOf(MigrationState::kRearm), Syndrome::kQpMigrationIllegal) << "there is no other path";
  EXPECT_EQ(syndromeOf(MigrationState::kArmed), Syndrome::kQpMigrationIllegal);
  EXPECT_TRUE(WithAlternate::setMigration(pair.a, pair.qpA, MigrationState::kMigrated).ok());
  QpAttributes to;
  to.alternatePath.port = 3;
  const auto change = QpTransition::kReadyToSendToReadyToSend;
  EXPECT_EQ(pair.a.table.modify(pair.qpA, change, Optional::kAlternatePath, to).syndrome, Syndrome::kQpPortUnknown);
  to.alternatePath.port = 2;
  to.alternatePath.partitionIndex = 128;
  EXPECT_EQ(pair.a.table.modify(pair.qpA, change, Optional::kAlternatePath, to).syndrome,
            Syndrome::kQpPartitionOutOfRange);
  to.alternatePath.partitionIndex = 127;
  EXPECT_TRUE(pair.a.table.modify(pair.qpA, change, Optional::kAlternatePath, to).ok());
  WithAlternate datagrams(QpService::kUd);
  EXPECT_FALSE(WithAlternate::rearm(datagrams.a, datagrams.qpA, kAlternateOfB).ok());
}

}  // namespace
}  // namespace hca::adapter::test

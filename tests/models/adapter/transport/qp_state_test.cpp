// The states of a queue pair: which commands each takes, and what goes on in it.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

using Options = RcPair::Options;

QpAttributes target(const RcPair& pair) {
  QpAttributes to;
  to.mtu = RcPair::kMtu;
  to.remoteQp = pair.qpB;
  to.path.remoteLid = Lid(2);
  to.path.ackTimeout = 10;
  to.retryCount = 2;
  to.remoteWrite = true;
  to.queueKey = RcPair::kQueueKey;
  return to;
}

CommandResult modify(RcPair& pair, QpTransition transition) {
  return pair.a.table.modify(pair.qpA, transition, 0, target(pair));
}

QpState stateOf(const RcPair& pair) {
  QpAttributes now;
  EXPECT_TRUE(pair.a.table.query(pair.qpA, now).ok());
  return now.state;
}

/// A read is no request of an unreliable service.
void postWrong(RcPair& pair, QpService service) {
  Options options;
  options.opcode = 0x10;
  options.datagram = service == QpService::kUd;
  pair.post(64, options);
}

void bring(RcPair& pair, QpService service, QpState state) {
  EXPECT_TRUE(modify(pair, QpTransition::kToReset).ok());
  pair.sendIndex = 0;
  if (state == QpState::kReset) return;
  if (state == QpState::kError) return static_cast<void>(modify(pair, QpTransition::kToError));
  EXPECT_TRUE(modify(pair, QpTransition::kResetToInit).ok());
  if (state == QpState::kInit) return;
  EXPECT_TRUE(modify(pair, QpTransition::kInitToReadyToReceive).ok());
  if (state == QpState::kReadyToReceive) return;
  EXPECT_TRUE(modify(pair, QpTransition::kReadyToReceiveToReadyToSend).ok());
  if (state == QpState::kSendQueueDrain) return static_cast<void>(modify(pair, QpTransition::kReadyToSendToDrain));
  if (state == QpState::kSendQueueError) {
    postWrong(pair, service);
    pair.run();
  }
}

TEST(QpState, EveryPairOfStateAndCommand) {
  using S = QpState;
  using T = QpTransition;
  const S states[] = {S::kReset,          S::kInit,           S::kReadyToReceive, S::kReadyToSend,
                      S::kSendQueueDrain, S::kSendQueueError, S::kError};
  struct Command {
    T transition;
    std::vector<S> from;
    S to;
  };
  const std::vector<S> all(std::begin(states), std::end(states));
  const Command commands[] = {
      {T::kResetToInit, {S::kReset}, S::kInit},
      {T::kInitToInit, {S::kInit}, S::kInit},
      {T::kInitToReadyToReceive, {S::kInit}, S::kReadyToReceive},
      {T::kReadyToReceiveToReadyToSend, {S::kReadyToReceive}, S::kReadyToSend},
      {T::kReadyToSendToReadyToSend, {S::kReadyToSend}, S::kReadyToSend},
      {T::kReadyToSendToDrain, {S::kReadyToSend}, S::kSendQueueDrain},
      {T::kDrainToReadyToSend, {S::kSendQueueDrain}, S::kReadyToSend},
      {T::kDrainedToReadyToSend, {S::kSendQueueDrain}, S::kReadyToSend},
      {T::kDrainToDrain, {S::kSendQueueDrain}, S::kSendQueueDrain},
      {T::kSendQueueErrorToReadyToSend, {S::kSendQueueError}, S::kReadyToSend},
      {T::kToError, all, S::kError},
      {T::kToReset, all, S::kReset},
      {static_cast<T>(0x50F), {}, S::kReset},
  };
  for (const QpService service : {QpService::kRc, QpService::kUc, QpService::kUd}) {
    RcPair pair(0, service);
    for (const S state : states) {
      if (state == S::kSendQueueError && service == QpService::kRc) continue;  // has none
      for (const Command& command : commands) {
        bring(pair, service, state);
        ASSERT_EQ(stateOf(pair), state);
        const CommandResult result = modify(pair, command.transition);
        const bool legal = std::find(command.from.begin(), command.from.end(), state) != command.from.end();
        ASSERT_EQ(result.ok(), legal) << std::hex << static_cast<int>(command.transition) << " from "
                                      << static_cast<int>(state);
        ASSERT_EQ(result.status, legal ? CommandStatus::kOk : CommandStatus::kBadQpState);
        ASSERT_EQ(result.syndrome, legal ? Syndrome::kNone : Syndrome::kQpTransitionIllegal);
        ASSERT_EQ(stateOf(pair), legal ? command.to : state);
      }
    }
  }
}

/// Numbers of the requests that completed at A.
std::vector<int> completed(const RcPair& pair) {
  std::vector<int> all;
  for (const auto& record : pair.a.completions.records) {
    EXPECT_EQ(record.opcode, CqeOpcode::kRequester);
    all.push_back(record.wqeCounter);
  }
  return all;
}

TEST(QpState, DrainFinishesWhatBeganAndNothingElse) {
  for (const QpService service : {QpService::kRc, QpService::kUc}) {
    RcPair pair(0, service);
    pair.post(100 * RcPair::kMtu);
    pair.post(64);
    pair.run(nanoseconds(800));
    EXPECT_GT(pair.a.wire.sent, 0);
    EXPECT_LT(pair.a.wire.sent, 50);
    QpAttributes drain = target(pair);
    drain.notifyWhenDrained = true;
    EXPECT_TRUE(pair.a.table.modify(pair.qpA, QpTransition::kReadyToSendToDrain, 0, drain).ok());
    EXPECT_EQ(stateOf(pair), QpState::kSendQueueDraining);
    pair.post(64);
    EXPECT_TRUE(pair.a.events.events.empty());
    pair.run();
    EXPECT_EQ(pair.a.wire.sent, 100);
    EXPECT_EQ(completed(pair), std::vector<int>{0});
    ASSERT_EQ(pair.a.events.events.size(), 1u);
    EXPECT_EQ(pair.a.events.events[0].type, EventType::kSqDrained);
    EXPECT_EQ(pair.a.events.events[0].object, pair.qpA.value());
    EXPECT_EQ(stateOf(pair), QpState::kSendQueueDrain);
    EXPECT_TRUE(modify(pair, QpTransition::kDrainToReadyToSend).ok());
    pair.run();
    EXPECT_EQ(completed(pair), (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(pair.a.events.events.size(), 1u);
  }
}

TEST(QpState, DrainOfAnIdleQueueIsDoneAtOnce) {
  RcPair pair;
  EXPECT_TRUE(modify(pair, QpTransition::kReadyToSendToDrain).ok());
  EXPECT_TRUE(pair.a.events.events.empty()) << "not asked for";
  EXPECT_EQ(stateOf(pair), QpState::kSendQueueDrain);
  EXPECT_TRUE(modify(pair, QpTransition::kDrainedToReadyToSend).ok());
  QpAttributes drain = target(pair);
  drain.notifyWhenDrained = true;
  EXPECT_TRUE(pair.a.table.modify(pair.qpA, QpTransition::kReadyToSendToDrain, 0, drain).ok());
  EXPECT_EQ(pair.a.events.events.size(), 1u);
}

// A request that is wrong in itself is not looked at before its turn.
TEST(QpState, WrongRequestWaitsForTheEndOfTheDrain) {
  RcPair pair;
  EXPECT_TRUE(modify(pair, QpTransition::kReadyToSendToDrain).ok());
  std::vector<std::uint8_t> wqe = pair.wqe(64, Options{});
  wqe[7] = 1;  // no room for the remote address
  pair.putWqe(wqe);
  pair.ring();
  pair.run();
  EXPECT_TRUE(pair.a.completions.records.empty());
  EXPECT_TRUE(modify(pair, QpTransition::kDrainToReadyToSend).ok());
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kLocalQpOperation);
  EXPECT_EQ(stateOf(pair), QpState::kError);
}

/// A request of B, from its ring's place `place`.
void postFromB(RcPair& pair, std::uint32_t place, std::uint32_t length) {
  RcPair other;  // for the bytes alone
  other.sendIndex = place;
  std::vector<std::uint8_t> wqe = other.wqe(length, Options{});
  const std::uint32_t number = pair.qpB.value();
  for (int i = 0; i < 3; ++i) wqe[static_cast<std::size_t>(4 + i)] = static_cast<std::uint8_t>(number >> (16 - 8 * i));
  std::copy(wqe.begin(), wqe.end(), &pair.b.memory.bytes[RcPair::kSendRing + place % 16 * 64]);
  wqe.resize(8);
  pair.b.sendQueue.onDoorbell(UarIndex(RcPair::kUar), wqe);
}

TEST(QpState, UnreliableSendErrorLeavesTheReceiveSideAlone) {
  RcPair pair(0, QpService::kUc);
  postWrong(pair, QpService::kUc);
  pair.post(64);
  pair.run();
  EXPECT_EQ(stateOf(pair), QpState::kSendQueueError);
  const auto& records = pair.a.completions.records;
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].syndrome, CqeSyndrome::kLocalQpOperation);
  EXPECT_EQ(records[1].syndrome, CqeSyndrome::kWorkRequestFlushed);
  pair.post(64);
  pair.run();
  ASSERT_EQ(records.size(), 3u) << "flushed at once";
  EXPECT_EQ(records[2].syndrome, CqeSyndrome::kWorkRequestFlushed);
  pair.b.memory.bytes[RcPair::kData] = 0x5A;
  postFromB(pair, 0, 64);
  pair.run();
  EXPECT_EQ(pair.a.memory.bytes[RcPair::kData], 0x5A) << "messages still arrive";
  EXPECT_TRUE(modify(pair, QpTransition::kSendQueueErrorToReadyToSend).ok());
  pair.fill(64);
  pair.post(64);
  pair.run();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[3].opcode, CqeOpcode::kRequester);
  EXPECT_TRUE(pair.arrived(64));
}

TEST(QpState, ReliableSendErrorEndsBothSides) {
  RcPair pair;
  Options options;
  options.opcode = 0x7F;
  pair.post(64, options);
  pair.run();
  EXPECT_EQ(stateOf(pair), QpState::kError);
}

TEST(QpState, FirstPacketBeforeReadyToSendSaysThatThereIsAConnection) {
  RcPair pair;
  EXPECT_TRUE(pair.b.table.modify(pair.qpB, QpTransition::kToReset, 0, {}).ok());
  QpAttributes to = target(pair);
  to.remoteQp = pair.qpA;
  to.path.remoteLid = Lid(1);
  EXPECT_TRUE(pair.b.table.modify(pair.qpB, QpTransition::kResetToInit, 0, to).ok());
  EXPECT_TRUE(pair.b.table.modify(pair.qpB, QpTransition::kInitToReadyToReceive, 0, to).ok());
  for (int i = 0; i < 3; ++i) pair.post(64);
  pair.run();
  EXPECT_EQ(pair.a.completions.records.size(), 3u);
  ASSERT_EQ(pair.b.events.events.size(), 1u);
  EXPECT_EQ(pair.b.events.events[0].type, EventType::kCommunicationEstablished);
  EXPECT_EQ(pair.b.events.events[0].object, pair.qpB.value());
  EXPECT_TRUE(pair.a.events.events.empty()) << "it is ready to send";
}

/// What B flushed of a queue, by number.
std::vector<std::uint64_t> flushed(const RcPair& pair, observe::WorkQueue queue) {
  std::vector<std::uint64_t> all;
  for (const auto& record : pair.b.completions.records) {
    if (record.request.queue != queue) continue;
    EXPECT_EQ(record.syndrome, CqeSyndrome::kWorkRequestFlushed);
    all.push_back(record.request.index);
  }
  return all;
}

// Case C41.
TEST(QpState, PostsInErrorAreFlushedBehindTheOthers) {
  RcPair pair;
  pair.b.wire.filter = [](network::Packet&) { return false; };  // nothing is done before the error
  for (std::uint32_t i = 0; i < 5; ++i) postFromB(pair, i, 64);
  for (int i = 0; i < 8; ++i) pair.postReceive(64);
  pair.run(microseconds(5));
  EXPECT_TRUE(pair.b.table.modify(pair.qpB, QpTransition::kToError, 0, {}).ok());
  pair.run(microseconds(5));
  EXPECT_EQ(pair.b.completions.records.size(), 13u);
  postFromB(pair, 5, 64);
  pair.postReceive(64);
  pair.run(microseconds(20));
  EXPECT_EQ(flushed(pair, observe::WorkQueue::kSend), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(flushed(pair, observe::WorkQueue::kReceive), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(QpState, LateReceivesAreLookedForUntilNobodyPosts) {
  RcPair pair;
  EXPECT_TRUE(pair.b.table.modify(pair.qpB, QpTransition::kToError, 0, {}).ok());
  pair.run(milliseconds(1));
  pair.postReceive(64);
  pair.run(milliseconds(2));
  EXPECT_EQ(flushed(pair, observe::WorkQueue::kReceive).size(), 1u);
  // From the last entry on it takes 65.5 ms until the adapter has seen enough of nothing.
  pair.run(milliseconds(30));
  pair.postReceive(64);
  pair.run(milliseconds(40));
  EXPECT_EQ(flushed(pair, observe::WorkQueue::kReceive).size(), 2u);
  pair.run(milliseconds(200));
  EXPECT_TRUE(pair.calendar.empty()) << "an idle queue pair in error costs nothing";
  pair.postReceive(64);
  pair.run(milliseconds(200));
  EXPECT_EQ(flushed(pair, observe::WorkQueue::kReceive).size(), 2u);
  EXPECT_TRUE(pair.b.table.modify(pair.qpB, QpTransition::kToError, 0, {}).ok());
  pair.run();
  EXPECT_EQ(flushed(pair, observe::WorkQueue::kReceive).size(), 3u) << "another 2ERR";
  pair.run(milliseconds(200));
  pair.postReceive(64);
  postFromB(pair, 0, 64);
  pair.run();
  EXPECT_EQ(flushed(pair, observe::WorkQueue::kReceive).size(), 4u) << "a send doorbell";
  pair.run(milliseconds(200));
  pair.postReceive(64);
  EXPECT_TRUE(pair.b.table.modify(pair.qpB, QpTransition::kToError, 0, {}).ok());
  EXPECT_TRUE(pair.b.table.modify(pair.qpB, QpTransition::kToReset, 0, {}).ok());
  pair.run(milliseconds(200));
  EXPECT_EQ(flushed(pair, observe::WorkQueue::kReceive).size(), 4u) << "none after a reset";
}

}  // namespace
}  // namespace hca::adapter::test

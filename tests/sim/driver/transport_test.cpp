// Reads, atomics, and the unreliable services, as a program uses them.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/sim/driver/verbs_pair.h"

namespace hca::test {
namespace {

using driver::QpType;
using driver::SendOpcode;
using driver::SendWorkRequest;
using driver::VerbsError;
using driver::WcOpcode;
using driver::WcStatus;

SendWorkRequest towards(const BlockingThread& peer, SendWorkRequest request, std::uint64_t offset = 0) {
  request.remoteAddress = peer.buffer() + offset;
  request.remoteKey = peer.region().remoteKey;
  return request;
}

std::uint64_t wordAt(BlockingThread& thread, std::uint64_t offset = 0) {
  std::uint64_t word = 0;
  std::memcpy(&word, thread.client().bytes(thread.buffer() + offset, sizeof word), sizeof word);
  return word;
}

void setWord(BlockingThread& thread, std::uint64_t value) {
  std::memcpy(thread.client().bytes(thread.buffer(), sizeof value), &value, sizeof value);
}

TEST(Transport, ReadBringsTheBytesAndTheirNumber) {
  VerbsPair verbs;
  std::uint8_t* source = verbs.right.client().bytes(verbs.right.buffer(), 5000);
  for (std::size_t i = 0; i < 5000; ++i) source[i] = static_cast<std::uint8_t>(i * 7 + 1);
  verbs.left.post(verbs.pair.left.handle, towards(verbs.right, verbs.left.request(SendOpcode::kRead, 9, 5000)));
  verbs.settle();
  const auto completions = verbs.left.poll(verbs.leftCq.handle);
  ASSERT_EQ(completions.size(), 1U);
  EXPECT_EQ(completions[0].status, WcStatus::kSuccess);
  EXPECT_EQ(completions[0].opcode, WcOpcode::kRead);
  EXPECT_EQ(completions[0].byteLength, 5000U);
  EXPECT_EQ(completions[0].workRequestId, 9U);
  EXPECT_EQ(std::memcmp(verbs.left.client().bytes(verbs.left.buffer(), 5000), source, 5000), 0);
  EXPECT_TRUE(verbs.right.poll(verbs.rightCq.handle).empty()) << "the other side takes no part";
}

TEST(Transport, AtomicsReturnTheValueBefore) {
  VerbsPair verbs;
  setWord(verbs.right, 40);
  SendWorkRequest request = towards(verbs.right, verbs.left.request(SendOpcode::kFetchAdd, 1, 8));
  request.compareOrAdd = 2;
  verbs.left.post(verbs.pair.left.handle, request);
  verbs.settle();
  EXPECT_EQ(wordAt(verbs.left), 40U);
  EXPECT_EQ(wordAt(verbs.right), 42U);

  request.opcode = SendOpcode::kCompareSwap;
  request.compareOrAdd = 41;
  request.swap = 7;
  verbs.left.post(verbs.pair.left.handle, request);
  verbs.settle();
  EXPECT_EQ(wordAt(verbs.right), 42U) << "another value was there: no swap";
  request.compareOrAdd = 42;
  verbs.left.post(verbs.pair.left.handle, request);
  verbs.settle();
  EXPECT_EQ(wordAt(verbs.left), 42U);
  EXPECT_EQ(wordAt(verbs.right), 7U);

  const auto completions = verbs.left.poll(verbs.leftCq.handle);
  ASSERT_EQ(completions.size(), 3U);
  EXPECT_EQ(completions[0].opcode, WcOpcode::kFetchAdd);
  EXPECT_EQ(completions[1].opcode, WcOpcode::kCompareSwap);
  for (const auto& completion : completions) EXPECT_EQ(completion.byteLength, 8U);
}

TEST(Transport, ReadWithoutTheRightIsRefusedByThePeer) {
  VerbsPair verbs;
  const std::uint64_t address = verbs.right.client().allocate(4096, 4096);
  const auto region = verbs.right.registerBuffer(address, 4096, 0);
  SendWorkRequest request = verbs.left.request(SendOpcode::kRead, 1);
  request.remoteAddress = address;
  request.remoteKey = region.remoteKey;
  verbs.left.post(verbs.pair.left.handle, request);
  verbs.settle();
  const auto completions = verbs.left.poll(verbs.leftCq.handle);
  ASSERT_EQ(completions.size(), 1U);
  EXPECT_EQ(completions[0].status, WcStatus::kRemoteAccess);
}

TEST(Transport, UnreliableConnectionWritesAndSendsButReadsNothing) {
  VerbsPair verbs;
  const ConnectedPair pair =
      connectPair(verbs.left, verbs.leftCq.handle, verbs.right, verbs.rightCq.handle, {}, 64, QpType::kUc);
  verbs.right.postReceive(pair.right.handle, 5);
  setWord(verbs.left, 0x1234);
  verbs.left.post(pair.left.handle, towards(verbs.right, verbs.left.request(SendOpcode::kWrite, 1), 4096));
  verbs.left.post(pair.left.handle, verbs.left.request(SendOpcode::kSend, 2));
  verbs.settle();
  EXPECT_EQ(wordAt(verbs.right, 4096), 0x1234U);
  const auto sends = verbs.left.poll(verbs.leftCq.handle);
  ASSERT_EQ(sends.size(), 2U);
  EXPECT_EQ(sends[0].status, WcStatus::kSuccess);
  EXPECT_EQ(sends[1].status, WcStatus::kSuccess);
  const auto receives = verbs.right.poll(verbs.rightCq.handle);
  ASSERT_EQ(receives.size(), 1U);
  EXPECT_EQ(receives[0].workRequestId, 5U);
  EXPECT_EQ(receives[0].byteLength, 64U);
  const auto read = towards(verbs.right, verbs.left.request(SendOpcode::kRead, 3));
  EXPECT_EQ(verbs.left.post(pair.left.handle, read).error, VerbsError::kInvalid);
}

/// A datagram queue pair on each side.
class Datagrams : public testing::Test {
 protected:
  Datagrams()
      : pair_(
            connectPair(verbs_.left, verbs_.leftCq.handle, verbs_.right, verbs_.rightCq.handle, {}, 64, QpType::kUd)) {}

  SendWorkRequest datagram(std::uint64_t id, std::uint32_t length) {
    SendWorkRequest request = verbs_.left.request(SendOpcode::kSend, id, length);
    request.datagram.address.lid = verbs_.right.client().lid();
    request.datagram.qp = pair_.right.number;
    request.datagram.queueKey = driver::ConnectionAttributes{}.queueKey;
    return request;
  }
  /// Sends it into a receive that is posted for it.
  std::vector<driver::WorkCompletion> send(const SendWorkRequest& request) {
    verbs_.right.postReceive(pair_.right.handle, 77, 4096 + driver::kGlobalRouteHeaderSize);
    EXPECT_EQ(verbs_.left.post(pair_.left.handle, request).error, VerbsError::kNone);
    verbs_.settle();
    return verbs_.right.poll(verbs_.rightCq.handle);
  }

  VerbsPair verbs_;
  ConnectedPair pair_;
};

TEST_F(Datagrams, ArriveBehindFortyBytesAndNameTheirSender) {
  setWord(verbs_.left, 0xABCD);
  const auto receives = send(datagram(1, 100));
  ASSERT_EQ(receives.size(), 1U);
  EXPECT_EQ(receives[0].workRequestId, 77U);
  EXPECT_EQ(receives[0].byteLength, 140U);
  EXPECT_EQ(receives[0].sourceQp, pair_.left.number);
  EXPECT_EQ(receives[0].sourceLid, verbs_.left.client().lid());
  EXPECT_FALSE(receives[0].hasGlobalRoute);
  EXPECT_EQ(wordAt(verbs_.right, driver::kGlobalRouteHeaderSize), 0xABCDU);
  const auto sends = verbs_.left.poll(verbs_.leftCq.handle);
  ASSERT_EQ(sends.size(), 1U);
  EXPECT_EQ(sends[0].status, WcStatus::kSuccess);
}

TEST_F(Datagrams, GlobalRouteIsInTheBuffer) {
  SendWorkRequest request = datagram(1, 16);
  request.datagram.address.globalRoute = true;
  request.datagram.address.trafficClass = 0xA5;
  request.datagram.address.hopLimit = 9;
  request.datagram.address.flowLabel = 0x12345;
  const auto receives = send(request);
  ASSERT_EQ(receives.size(), 1U);
  EXPECT_TRUE(receives[0].hasGlobalRoute);
  const std::uint8_t* header = verbs_.right.client().bytes(verbs_.right.buffer(), driver::kGlobalRouteHeaderSize);
  EXPECT_EQ(header[0], 0x6A);  // version 6, traffic class, flow label
  EXPECT_EQ(header[1], 0x51);
  EXPECT_EQ(header[2], 0x23);
  EXPECT_EQ(header[3], 0x45);
  EXPECT_EQ(header[7], 9);
}

TEST_F(Datagrams, WithAnotherQueueKeyAreDropped) {
  SendWorkRequest request = datagram(1, 16);
  request.datagram.queueKey = 0x2222;
  EXPECT_TRUE(send(request).empty());
  EXPECT_EQ(verbs_.left.poll(verbs_.leftCq.handle).size(), 1U) << "the sender doesn't learn it";
}

TEST_F(Datagrams, OfOnePacketAndNotAByteMore) {
  ASSERT_EQ(send(datagram(1, 4096)).size(), 1U);
  EXPECT_EQ(verbs_.left.poll(verbs_.leftCq.handle).front().status, WcStatus::kSuccess);
  EXPECT_TRUE(send(datagram(2, 4097)).empty());
  EXPECT_EQ(verbs_.left.poll(verbs_.leftCq.handle).front().status, WcStatus::kLocalLength);
}

TEST_F(Datagrams, CanOnlySend) {
  const auto write = towards(verbs_.right, verbs_.left.request(SendOpcode::kWrite, 3));
  EXPECT_EQ(verbs_.left.post(pair_.left.handle, write).error, VerbsError::kInvalid);
}

/// Two queue pairs whose right sides share a receive queue of 7.
class Shared : public testing::Test {
 protected:
  Shared() {
    verbs_.right.client().onAsyncEvent(
        [this](std::uint8_t type, std::uint32_t object) { events_.emplace_back(type, object); });
    for (auto& pair : pairs_) {
      pair = connectPair(verbs_.left, verbs_.leftCq.handle, verbs_.right, verbs_.rightCq.handle, {}, 64, QpType::kRc,
                         srq_.handle);
    }
  }
  void send(std::size_t which, std::uint64_t id = 0) {
    verbs_.left.post(pairs_[which].left.handle, verbs_.left.request(SendOpcode::kSend, id));
    verbs_.settle();
  }
  std::vector<std::uint64_t> received() {
    std::vector<std::uint64_t> ids;
    for (const auto& completion : verbs_.right.poll(verbs_.rightCq.handle)) {
      EXPECT_EQ(completion.status, WcStatus::kSuccess);
      ids.push_back(completion.workRequestId);
    }
    return ids;
  }

  VerbsPair verbs_;
  driver::SrqCreated srq_ = verbs_.right.createSrq(5);
  ConnectedPair pairs_[2];
  std::vector<std::pair<unsigned, std::uint32_t>> events_;
};

TEST_F(Shared, ReceivesServeWhoeverComesFirst) {
  std::vector<observe::CompletionEvent> observed;
  verbs_.hosts.system().probes().completion.attach([&](const observe::CompletionEvent& event) {
    if (event.request.queue == observe::WorkQueue::kSharedReceive) observed.push_back(event);
  });
  ASSERT_EQ(srq_.error, VerbsError::kNone);
  EXPECT_EQ(srq_.maxWr, 7U);
  for (std::uint64_t id = 100; id < 107; ++id) {
    ASSERT_EQ(verbs_.right.postSrqReceive(srq_.handle, id).error, VerbsError::kNone);
  }
  EXPECT_EQ(verbs_.right.postSrqReceive(srq_.handle, 107).error, VerbsError::kNoMemory);
  EXPECT_EQ(verbs_.right.postReceive(pairs_[0].right.handle, 1).error, VerbsError::kInvalid) << "it has no queue";
  for (const std::size_t which : {1U, 0U, 0U, 1U}) send(which);
  EXPECT_EQ(received(), (std::vector<std::uint64_t>{100, 101, 102, 103}));
  ASSERT_EQ(observed.size(), 4U);
  for (std::size_t i = 0; i < observed.size(); ++i) {
    EXPECT_EQ(observed[i].request.index, i);
    EXPECT_EQ(observed[i].request.qp.value(), srq_.number.value());
    EXPECT_EQ(observed[i].qp, pairs_[i == 0 || i == 3 ? 1 : 0].right.number);
  }
  // Ten rounds of the ring.
  for (std::uint64_t id = 107; id < 187; ++id) {
    ASSERT_EQ(verbs_.right.postSrqReceive(srq_.handle, id).error, VerbsError::kNone);
    send(id % 2);
    ASSERT_EQ(received(), std::vector<std::uint64_t>{id - 3});
  }
}

TEST_F(Shared, LimitEventNamesTheQueue) {
  for (std::uint64_t id = 0; id < 4; ++id) verbs_.right.postSrqReceive(srq_.handle, id);
  EXPECT_EQ(verbs_.right.modifySrq(srq_.handle, 8), VerbsError::kInvalid);
  EXPECT_EQ(verbs_.right.modifySrq(srq_.handle, 3), VerbsError::kNone);
  send(0);
  EXPECT_TRUE(events_.empty());
  send(1);
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(events_[0], (std::pair<unsigned, std::uint32_t>{0x14, srq_.number.value()}));
  send(0);
  EXPECT_EQ(events_.size(), 1U);
}

TEST_F(Shared, LastReceiveIsCompleteBeforeItsEvent) {
  for (std::uint64_t id = 0; id < 7; ++id) verbs_.right.postSrqReceive(srq_.handle, id);
  verbs_.left.post(pairs_[0].left.handle, verbs_.left.request(SendOpcode::kSend, 1));
  EXPECT_EQ(verbs_.right.modifyToError(pairs_[0].right.handle), VerbsError::kNone);
  verbs_.settle();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(events_[0], (std::pair<unsigned, std::uint32_t>{0x13, pairs_[0].right.number.value()}));
  EXPECT_EQ(received(), std::vector<std::uint64_t>{0});
  send(1);
  EXPECT_EQ(received(), std::vector<std::uint64_t>{1}) << "the others are still there";
}

TEST_F(Shared, DestroyedAfterItsQueuePairsAlone) {
  verbs_.right.postSrqReceive(srq_.handle, 1);
  send(0);
  EXPECT_EQ(verbs_.right.destroySrq(srq_.handle), VerbsError::kBusy);
  EXPECT_EQ(verbs_.right.destroyQp(pairs_[0].right.handle), VerbsError::kNone);
  EXPECT_TRUE(received().empty()) << "dropped with their queue pair";
  // The dropped completion's entry is free again.
  for (std::uint64_t id = 0; id < 7; ++id) {
    EXPECT_EQ(verbs_.right.postSrqReceive(srq_.handle, id).error, VerbsError::kNone);
  }
  EXPECT_EQ(verbs_.right.destroySrq(srq_.handle), VerbsError::kBusy);
  EXPECT_EQ(verbs_.right.destroyQp(pairs_[1].right.handle), VerbsError::kNone);
  EXPECT_EQ(verbs_.right.destroySrq(srq_.handle), VerbsError::kNone);
  EXPECT_EQ(verbs_.right.destroySrq(srq_.handle), VerbsError::kInvalid);
  EXPECT_EQ(verbs_.hosts.driver(1).objects(driver::ObjectKind::kSrq), 0U);
}

TEST_F(Shared, GoesWithItsOwner) {
  bool released = false;
  verbs_.hosts.driver(1).releaseOwner(verbs_.right.client().owner(), [&] { released = true; });
  verbs_.hosts.runFor(milliseconds(10));
  EXPECT_TRUE(released);
  EXPECT_EQ(verbs_.hosts.driver(1).objects(driver::ObjectKind::kSrq), 0U);
}

// Case C41.
TEST(Transport, PostsInErrorAreFlushedInOrderTheBeaconLast) {
  VerbsPair verbs;
  for (std::uint64_t id = 0; id < 5; ++id) {  // nobody receives them
    verbs.left.post(verbs.pair.left.handle, verbs.left.request(SendOpcode::kSend, id));
  }
  for (std::uint64_t id = 100; id < 108; ++id) verbs.left.postReceive(verbs.pair.left.handle, id);
  EXPECT_EQ(verbs.left.modifyToError(verbs.pair.left.handle), VerbsError::kNone);
  EXPECT_EQ(verbs.left.post(verbs.pair.left.handle, verbs.left.request(SendOpcode::kSend, 5)).accepted, 1U);
  EXPECT_EQ(verbs.left.postReceive(verbs.pair.left.handle, 108).accepted, 1U);
  verbs.settle();
  std::vector<std::uint64_t> sends, receives;
  for (const auto& completion : verbs.left.poll(verbs.leftCq.handle)) {
    EXPECT_EQ(completion.status, WcStatus::kFlushed);
    (completion.workRequestId < 100 ? sends : receives).push_back(completion.workRequestId);
  }
  EXPECT_EQ(sends, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(receives, (std::vector<std::uint64_t>{100, 101, 102, 103, 104, 105, 106, 107, 108}));
}

TEST(Transport, NothingCompletesAfterAReset) {
  // Entries take 100 us to be written: a command overtakes them.
  VerbsPair verbs([](config::Config& config) { config.allHosts.adapter.completion.cqeWriteCycles = Cycles(100'000); });
  const auto write = towards(verbs.right, verbs.left.request(SendOpcode::kWrite, 1));
  verbs.left.post(verbs.pair.left.handle, write);
  verbs.hosts.runFor(microseconds(200));
  EXPECT_EQ(verbs.left.poll(verbs.leftCq.handle).size(), 1U);
  verbs.left.post(verbs.pair.left.handle, write);
  verbs.hosts.runFor(microseconds(20));
  bool reset = false;
  verbs.hosts.driver(0).modifyQp(verbs.left.client().owner(), verbs.pair.left.number, adapter::QpTransition::kToReset,
                                 0, {}, [&](const driver::Answer<int>& answer) {
                                   EXPECT_TRUE(answer.ok());
                                   EXPECT_TRUE(verbs.left.poll(verbs.leftCq.handle).empty());
                                   reset = true;
                                 });
  verbs.hosts.runFor(milliseconds(1));
  EXPECT_TRUE(reset);
  EXPECT_TRUE(verbs.left.poll(verbs.leftCq.handle).empty());
}

}  // namespace
}  // namespace hca::test

// Which requests complete, how often, and when a queue may go.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/sim/driver/verbs_pair.h"

namespace hca::test {
namespace {

using driver::SendOpcode;
using driver::SendWorkRequest;
using driver::VerbsError;
using driver::WcStatus;
using driver::WorkCompletion;

TEST(Completions, DozensOfQueuePairsShareAQueueAndEachSignaledRequestCompletesOnce) {
  VerbsPair verbs;
  constexpr std::uint32_t kPairs = 24;
  std::vector<ConnectedPair> pairs{verbs.pair};
  while (pairs.size() < kPairs) {
    pairs.push_back(connectPair(verbs.left, verbs.leftCq.handle, verbs.right, verbs.rightCq.handle));
  }
  for (std::uint32_t i = 0; i < kPairs; ++i) {
    for (std::uint32_t j = 0; j < 3; ++j) {
      verbs.right.postReceive(pairs[i].right.handle, i * 10 + j);
      verbs.left.post(pairs[i].left.handle, verbs.left.request(SendOpcode::kSend, i * 10 + j));
    }
  }
  verbs.settle();
  for (auto* side : {&verbs.left, &verbs.right}) {
    const driver::CqHandle cq = side == &verbs.left ? verbs.leftCq.handle : verbs.rightCq.handle;
    std::map<std::uint64_t, int> seen;
    std::map<QpNumber, std::uint64_t> last;
    for (const WorkCompletion& completion : side->poll(cq)) {
      EXPECT_EQ(completion.status, WcStatus::kSuccess);
      ++seen[completion.workRequestId];
      const auto before = last.find(completion.qp);
      EXPECT_TRUE(before == last.end() || completion.workRequestId > before->second) << "order within a queue";
      last[completion.qp] = completion.workRequestId;
    }
    EXPECT_EQ(seen.size(), kPairs * 3);
    for (const auto& [id, times] : seen) EXPECT_EQ(times, 1) << id;
    EXPECT_EQ(last.size(), kPairs);
  }
}

TEST(Completions, UnsignaledRequestsGiveNoneAndAreRetiredByALaterOne) {
  VerbsPair verbs;
  const driver::QpHandle qp = verbs.pair.left.handle;
  const std::uint32_t depth = verbs.pair.left.maxSendWr;
  SendWorkRequest request = verbs.left.request(SendOpcode::kWrite, 0);
  request.remoteAddress = verbs.right.buffer();
  request.remoteKey = verbs.right.region().remoteKey;
  for (std::uint32_t id = 0; id < depth; ++id) {
    request.workRequestId = id;
    request.signaled = id == depth - 2;
    ASSERT_EQ(verbs.left.post(qp, request).error, VerbsError::kNone);
  }
  verbs.settle();
  EXPECT_EQ(verbs.left.post(qp, request).error, VerbsError::kNoMemory) << "nothing was polled: nothing is retired";
  const auto completions = verbs.left.poll(verbs.leftCq.handle);
  ASSERT_EQ(completions.size(), 1U);
  EXPECT_EQ(completions[0].workRequestId, depth - 2);
  for (std::uint32_t id = 0; id < depth - 1; ++id) {
    ASSERT_EQ(verbs.left.post(qp, request).error, VerbsError::kNone) << id;
  }
  EXPECT_EQ(verbs.left.post(qp, request).error, VerbsError::kNoMemory) << "the last one of before still counts";
}

TEST(Completions, FullQueueNamesTheFirstRefusedRequest) {
  VerbsPair verbs;
  const std::uint32_t depth = verbs.pair.left.maxSendWr;
  SendWorkRequest request = verbs.left.request(SendOpcode::kWrite, 0);
  request.remoteAddress = verbs.right.buffer();
  request.remoteKey = verbs.right.region().remoteKey;
  const std::vector<SendWorkRequest> list(depth + 8, request);
  const driver::PostResult result = verbs.left.client().postSend(verbs.pair.left.handle, list);
  EXPECT_EQ(result.error, VerbsError::kNoMemory);
  EXPECT_EQ(result.accepted, depth);
  verbs.settle();
  EXPECT_EQ(verbs.left.poll(verbs.leftCq.handle).size(), depth);
}

TEST(Completions, ErrorsAlwaysCompleteAndTheRestIsFlushedInOrder) {
  VerbsPair verbs;
  const driver::QpHandle qp = verbs.pair.left.handle;
  SendWorkRequest request = verbs.left.request(SendOpcode::kWrite, 100);
  request.signaled = false;
  request.remoteAddress = verbs.right.buffer();
  request.remoteKey = MemoryKey(verbs.right.region().remoteKey.value() ^ 0x100);  // no such key
  verbs.left.post(qp, request);
  for (std::uint64_t id = 101; id < 104; ++id) {
    request.workRequestId = id;
    verbs.left.post(qp, request);
  }
  verbs.left.postReceive(qp, 200);
  verbs.left.postReceive(qp, 201);
  verbs.settle();
  std::vector<std::uint64_t> sends, receives;
  for (const WorkCompletion& completion : verbs.left.poll(verbs.leftCq.handle)) {
    if (completion.workRequestId == 100) {
      EXPECT_EQ(completion.status, WcStatus::kRemoteAccess);
      EXPECT_NE(completion.vendorError, 0);
    } else {
      EXPECT_EQ(completion.status, WcStatus::kFlushed);
    }
    (completion.workRequestId < 200 ? sends : receives).push_back(completion.workRequestId);
  }
  EXPECT_EQ(sends, (std::vector<std::uint64_t>{100, 101, 102, 103}));
  EXPECT_EQ(receives, (std::vector<std::uint64_t>{200, 201}));
}

// Requests that were fetched together with one that fails at once.
TEST(Completions, ListBehindAFailingRequestIsFlushedOnce) {
  VerbsPair verbs;
  std::vector<SendWorkRequest> list(4, verbs.left.request(SendOpcode::kSend, 0));
  for (std::uint64_t id = 0; id < list.size(); ++id) list[id].workRequestId = id;
  list.front().scatterGather.front().localKey = MemoryKey(0xDEAD00);
  verbs.left.client().postSend(verbs.pair.left.handle, list);
  verbs.settle();
  const auto completions = verbs.left.poll(verbs.leftCq.handle);
  ASSERT_EQ(completions.size(), list.size());
  for (std::uint64_t id = 0; id < list.size(); ++id) {
    EXPECT_EQ(completions[id].workRequestId, id);
    EXPECT_EQ(completions[id].status, id == 0 ? WcStatus::kLocalProtection : WcStatus::kFlushed);
  }
}

// The receive was taken for a message that was then refused, or that an error of the queue pair cut short.
TEST(Completions, ReceiveOfAMessageThatFailsIsFlushedWithTheRest) {
  VerbsPair verbs;
  for (std::uint64_t id = 0; id < 3; ++id) verbs.right.postReceive(verbs.pair.right.handle, id);
  SendWorkRequest request = verbs.left.request(SendOpcode::kWriteImmediate, 9);
  request.remoteAddress = verbs.right.buffer();
  request.remoteKey = MemoryKey(verbs.right.region().remoteKey.value() ^ 0x100);  // no such key
  verbs.left.post(verbs.pair.left.handle, request);
  verbs.settle();
  const auto completions = verbs.right.poll(verbs.rightCq.handle);
  ASSERT_EQ(completions.size(), 3U);
  for (std::uint64_t id = 0; id < 3; ++id) {
    EXPECT_EQ(completions[id].workRequestId, id);
    EXPECT_EQ(completions[id].status, WcStatus::kFlushed);
  }
}

// Nothing acknowledges a datagram: the one before it is done when it has left.
TEST(Completions, DatagramThatFailsBehindOthersReportsIt) {
  VerbsPair verbs;
  const ConnectedPair pair =
      connectPair(verbs.left, verbs.leftCq.handle, verbs.right, verbs.rightCq.handle, {}, 64, driver::QpType::kUd);
  std::vector<SendWorkRequest> list(3, verbs.left.request(SendOpcode::kSend, 0));
  for (std::uint64_t id = 0; id < list.size(); ++id) {
    list[id].workRequestId = id;
    list[id].datagram = {{verbs.right.client().lid()}, pair.right.number, driver::ConnectionAttributes{}.queueKey};
  }
  list.back().scatterGather.front().localKey = MemoryKey(0xDEAD00);
  verbs.left.client().postSend(pair.left.handle, list);
  verbs.settle();
  const auto completions = verbs.left.poll(verbs.leftCq.handle);
  ASSERT_EQ(completions.size(), 3U);
  EXPECT_EQ(completions[1].status, WcStatus::kSuccess);
  EXPECT_EQ(completions[2].status, WcStatus::kLocalProtection);
}

TEST(Completions, PostingInErrorIsAcceptedAndFlushedBehindTheRest) {
  VerbsPair verbs;
  const driver::QpHandle qp = verbs.pair.left.handle;
  for (std::uint64_t id = 0; id < 8; ++id) verbs.left.postReceive(qp, id);
  EXPECT_EQ(verbs.left.modifyToError(qp), VerbsError::kNone);
  for (std::uint64_t id = 50; id < 53; ++id) {
    ASSERT_EQ(verbs.left.post(qp, verbs.left.request(SendOpcode::kSend, id)).error, VerbsError::kNone);
  }
  verbs.settle();
  std::vector<std::uint64_t> sends, receives;
  for (const WorkCompletion& completion : verbs.left.poll(verbs.leftCq.handle)) {
    EXPECT_EQ(completion.status, WcStatus::kFlushed);
    (completion.workRequestId >= 50 ? sends : receives).push_back(completion.workRequestId);
  }
  EXPECT_EQ(sends, (std::vector<std::uint64_t>{50, 51, 52}));
  EXPECT_EQ(receives, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Completions, ProtectionIsCheckedAtBothEnds) {
  const auto statusOf = [](VerbsPair& verbs, const SendWorkRequest& request) {
    verbs.left.post(verbs.pair.left.handle, request);
    verbs.settle();
    const auto completions = verbs.left.poll(verbs.leftCq.handle);
    return completions.empty() ? WcStatus::kSuccess : completions.front().status;
  };
  VerbsPair verbs;
  SendWorkRequest local = verbs.left.request(SendOpcode::kSend, 1);
  local.scatterGather.front().localKey = MemoryKey(0xDEAD00);
  EXPECT_EQ(statusOf(verbs, local), WcStatus::kLocalProtection);
  // The queue pair is in error now: the next checks need another.
  verbs.pair = connectPair(verbs.left, verbs.leftCq.handle, verbs.right, verbs.rightCq.handle);
  SendWorkRequest beyond = verbs.left.request(SendOpcode::kWrite, 2);
  beyond.remoteAddress = verbs.right.buffer() + BlockingThread::kBuffer - 63;  // one byte over the end
  beyond.remoteKey = verbs.right.region().remoteKey;
  EXPECT_EQ(statusOf(verbs, beyond), WcStatus::kRemoteAccess);
  verbs.pair = connectPair(verbs.left, verbs.leftCq.handle, verbs.right, verbs.rightCq.handle);
  beyond.remoteAddress -= 1;  // to the last byte
  EXPECT_EQ(statusOf(verbs, beyond), WcStatus::kSuccess);
}

TEST(Destruction, RefusedWhileAQueuePairIsAttached) {
  TwoHosts hosts;
  BlockingThread thread(hosts, 0);
  const driver::CqCreated sends = thread.createCq(10);
  const driver::CqCreated receives = thread.createCq(10);
  const driver::QpCreated qp = thread.createQp(sends.handle, receives.handle);
  EXPECT_EQ(thread.destroyCq(sends.handle), VerbsError::kBusy);
  EXPECT_EQ(thread.destroyCq(receives.handle), VerbsError::kBusy);
  EXPECT_EQ(thread.destroyQp(qp.handle), VerbsError::kNone);
  EXPECT_EQ(thread.destroyCq(sends.handle), VerbsError::kNone);
  EXPECT_EQ(thread.destroyCq(receives.handle), VerbsError::kNone);
  EXPECT_EQ(thread.destroyCq(receives.handle), VerbsError::kInvalid);
}

TEST(Destruction, WaitsUntilEveryTakenEventIsAcknowledged) {
  VerbsPair verbs;
  verbs.right.countEvents();
  for (int i = 0; i < 3; ++i) {
    verbs.right.client().arm(verbs.rightCq.handle, false);
    verbs.settle();
    verbs.send();
  }
  ASSERT_EQ(verbs.right.events().size(), 3U);
  ASSERT_EQ(verbs.right.destroyQp(verbs.pair.right.handle), VerbsError::kNone);
  bool destroyed = false;
  verbs.right.client().destroyCq(verbs.rightCq.handle, [&](VerbsError error) {
    EXPECT_EQ(error, VerbsError::kNone);
    destroyed = true;
  });
  verbs.settle();
  verbs.right.client().acknowledge(verbs.rightCq.handle, 2);
  verbs.settle();
  EXPECT_FALSE(destroyed);
  verbs.right.client().acknowledge(verbs.rightCq.handle, 1);
  EXPECT_TRUE(destroyed);
}

TEST(Destruction, EventsThatNobodyTookNeedNoAcknowledgement) {
  VerbsPair verbs;
  verbs.right.client().arm(verbs.rightCq.handle, false);
  verbs.settle();
  verbs.send();  // the event waits in the channel
  ASSERT_EQ(verbs.right.destroyQp(verbs.pair.right.handle), VerbsError::kNone);
  EXPECT_EQ(verbs.right.destroyCq(verbs.rightCq.handle), VerbsError::kNone);
  verbs.right.countEvents();
  verbs.settle();
  EXPECT_TRUE(verbs.right.events().empty());
}

TEST(Destruction, CompletionsOfADestroyedQueuePairAreDropped) {
  VerbsPair verbs;
  const ConnectedPair other = connectPair(verbs.left, verbs.leftCq.handle, verbs.right, verbs.rightCq.handle);
  verbs.send();
  verbs.right.postReceive(other.right.handle, 77);
  verbs.left.post(other.left.handle, verbs.left.request(SendOpcode::kSend, 77));
  verbs.settle();
  ASSERT_EQ(verbs.right.destroyQp(verbs.pair.right.handle), VerbsError::kNone);
  const auto completions = verbs.right.poll(verbs.rightCq.handle);
  ASSERT_EQ(completions.size(), 1U);
  EXPECT_EQ(completions[0].workRequestId, 77U);
}

}  // namespace
}  // namespace hca::test

// What users of verbs and of simulators have met: one test a case, named by its number.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "models/wire/describe.h"
#include "tests/sim/cases/case_helpers.h"

namespace hca::test {
namespace {

using driver::CqRequest;
using driver::SendOpcode;
using driver::SendWorkRequest;
using driver::VerbsError;
using driver::WcStatus;
using driver::WorkCompletion;

constexpr std::uint8_t kCqError = 0x04;
constexpr std::uint8_t kQpFatal = 0x05;

/// 128 queue pairs that complete into one queue, a write each, and as many more of the first.
struct SharedQueue {
  SharedQueue(std::int32_t cqe, std::uint32_t writes) : left(hosts, 0), right(hosts, 1), cq(left.createCq(cqe)) {
    left.client().onAsyncEvent([this](std::uint8_t type, std::uint32_t object) { events.emplace_back(type, object); });
    const driver::CqCreated rightCq = right.createCq(1000);
    for (int i = 0; i < 128; ++i) pairs.push_back(connectPair(left, cq.handle, right, rightCq.handle, {}, 2));
    for (std::uint32_t i = 0; i < writes; ++i) {
      left.post(pairs[i % pairs.size()].left.handle, remote(right, left.request(SendOpcode::kWrite, i)));
    }
    hosts.runFor(milliseconds(1));
  }
  [[nodiscard]] std::size_t count(std::uint8_t type) const {
    return static_cast<std::size_t>(
        std::count_if(events.begin(), events.end(), [type](const auto& event) { return event.first == type; }));
  }

  TwoHosts hosts;
  BlockingThread left, right;
  driver::CqCreated cq;
  std::vector<ConnectedPair> pairs;
  std::vector<std::pair<std::uint8_t, std::uint32_t>> events;
};

TEST(Cases, C01_OverrunOfASharedQueueIsOneErrorAndFailsWhoComesLate) {
  SharedQueue queue(100, 129);
  ASSERT_EQ(queue.cq.cqe, 127U);
  EXPECT_EQ(queue.count(kCqError), 1U);
  ASSERT_FALSE(queue.events.empty());
  EXPECT_EQ(queue.events.front(), std::make_pair(kCqError, queue.cq.number.value()));
  EXPECT_EQ(queue.count(kQpFatal), 1U) << "one queue pair came late";
  const auto& counters = queue.hosts.system().host(0).adapter().hca().completion().find(queue.cq.number)->counters;
  EXPECT_EQ(counters.overruns, 1U);
  EXPECT_EQ(counters.cqes, 128U);
}

TEST(Cases, C01_AQueueOfTwiceTheDepthHasNoError) {
  SharedQueue queue(200, 129);
  EXPECT_TRUE(queue.events.empty());
  EXPECT_EQ(queue.left.poll(queue.cq.handle).size(), 129U);
}

TEST(Cases, C04_DepthBeyondTheDevicesIsRefusedNotShrunk) {
  TwoHosts hosts([](config::Config& config) { config.allHosts.adapter.completion.logMaxCqSize = 10; });
  BlockingThread thread(hosts, 0);
  for (const std::int32_t cqe : {1, 511, 1023}) {
    const driver::CqCreated created = thread.createCq(depth(cqe));
    EXPECT_EQ(created.error, VerbsError::kNone) << cqe;
    EXPECT_GE(created.cqe, static_cast<std::uint32_t>(cqe));
  }
  EXPECT_EQ(thread.createCq(depth(1024)).error, VerbsError::kInvalid);
}

TEST(Cases, C07_ZeroIsRefusedAndOneIsSmallAsMlx5HasIt) {
  TwoHosts hosts;
  BlockingThread thread(hosts, 0);
  EXPECT_EQ(thread.createCq(depth(0)).error, VerbsError::kInvalid);
  EXPECT_EQ(thread.createCq(depth(1)).cqe, 1U);
}

TEST(Cases, C07_SmallDepthsAreRaisedWhereTheProfileSaysSo) {
  TwoHosts hosts([](config::Config& config) {
    config.allHosts.driver.min_cqe = 64;
    config.allHosts.driver.raise_zero_cqe = true;
  });
  BlockingThread thread(hosts, 0);
  for (const std::int32_t cqe : {0, 1, 64}) EXPECT_EQ(thread.createCq(depth(cqe)).cqe, 127U) << cqe;
  EXPECT_EQ(thread.createCq(depth(128)).cqe, 255U);
  EXPECT_EQ(thread.createCq(depth(-1)).error, VerbsError::kInvalid);
}

// The rest of this case, both orders over the whole window between poll and arm, is in ArmWindow.
TEST(Cases, C11_OneArmIsOneEvent) {
  VerbsPair verbs;
  verbs.right.countEvents();
  verbs.right.client().arm(verbs.rightCq.handle, false);
  verbs.settle();
  for (int i = 0; i < 3; ++i) verbs.send();
  EXPECT_EQ(verbs.right.events().size(), 1U);
}

TEST(Cases, C18_SolicitedIsAReceiveThatAskedForItOrAnyFailure) {
  VerbsPair verbs;
  verbs.left.countEvents();
  verbs.right.countEvents();
  const auto arm = [&](BlockingThread& thread, const driver::CqCreated& cq) {
    thread.client().arm(cq.handle, true);
    verbs.settle();
  };
  arm(verbs.left, verbs.leftCq);
  arm(verbs.right, verbs.rightCq);
  verbs.send();
  EXPECT_TRUE(verbs.left.events().empty()) << "a good send";
  EXPECT_TRUE(verbs.right.events().empty()) << "a plain receive";
  verbs.send(true);
  EXPECT_TRUE(verbs.left.events().empty());
  EXPECT_EQ(verbs.right.events().size(), 1U) << "a receive that asked for it";
  arm(verbs.right, verbs.rightCq);
  verbs.right.postReceive(verbs.pair.right.handle, 1);
  SendWorkRequest write = remote(verbs.right, verbs.left.request(SendOpcode::kWriteImmediate, 2));
  write.solicited = true;
  verbs.left.post(verbs.pair.left.handle, write);
  verbs.settle();
  EXPECT_EQ(verbs.right.events().size(), 2U) << "a write with immediate data that asked for it";
  driver::ConnectionAttributes impatient;
  impatient.rnrRetry = 0;
  const ConnectedPair pair = connectPair(verbs.left, verbs.leftCq.handle, verbs.right, verbs.rightCq.handle, impatient);
  verbs.left.post(pair.left.handle, verbs.left.request(SendOpcode::kSend, 3));
  verbs.settle();
  EXPECT_EQ(verbs.left.events().size(), 1U) << "a send that found no receive";
  EXPECT_EQ(verbs.left.poll(verbs.leftCq.handle).back().status, WcStatus::kRnrRetryExceeded);
}

/// Receives into a moderated queue whose events are counted.
struct Moderated : VerbsPair {
  Moderated(std::uint16_t count, std::uint16_t period) {
    EXPECT_EQ(modify(count, period), VerbsError::kNone);
    right.countEvents();
    right.client().arm(rightCq.handle, false);
    settle();
  }
  VerbsError modify(std::uint16_t count, std::uint16_t period) {
    return right.await<VerbsError>([&](auto done) { right.client().modifyCq(rightCq.handle, count, period, done); });
  }
  void deliver(int messages) {
    for (int i = 0; i < messages; ++i) {
      right.postReceive(pair.right.handle, 0);
      left.post(pair.left.handle, left.request(SendOpcode::kSend, 0));
    }
    hosts.runFor(microseconds(10));
  }
};

TEST(Cases, C20_FewEntriesWaitForThePeriod) {
  Moderated queue(16, 100);
  const Time start = queue.hosts.calendar().now();
  queue.deliver(5);
  queue.hosts.run(start + microseconds(99));
  EXPECT_EQ(queue.right.events().size(), 0U);
  queue.hosts.run(start + microseconds(130));
  EXPECT_EQ(queue.right.events().size(), 1U);
}

TEST(Cases, C20_ManyEntriesWaitForTheCount) {
  Moderated queue(16, 100);
  queue.deliver(15);
  EXPECT_EQ(queue.right.events().size(), 0U);
  queue.deliver(1);
  queue.settle();
  EXPECT_EQ(queue.right.events().size(), 1U);
}

TEST(Cases, C20_OffAndModifiedWithEntriesPendingLosesNothing) {
  Moderated queue(0, 0);
  queue.deliver(1);
  queue.settle();
  EXPECT_EQ(queue.right.events().size(), 1U) << "off";
  ASSERT_EQ(queue.modify(16, 0), VerbsError::kNone);
  queue.right.poll(queue.rightCq.handle);
  queue.right.client().arm(queue.rightCq.handle, false);
  queue.deliver(5);
  EXPECT_EQ(queue.right.events().size(), 1U);
  ASSERT_EQ(queue.modify(5, 0), VerbsError::kNone);
  queue.settle();
  EXPECT_EQ(queue.right.events().size(), 2U);
  EXPECT_EQ(queue.modify(1, 4096), VerbsError::kInvalid) << "more than the field holds";
}

TEST(Cases, C20_AnAdapterWithoutModerationSaysSo) {
  VerbsPair verbs([](config::Config& config) { config.allHosts.adapter.completion.moderation = false; });
  const auto modify = [&](std::uint16_t count, std::uint16_t period) {
    return verbs.right.await<VerbsError>(
        [&](auto done) { verbs.right.client().modifyCq(verbs.rightCq.handle, count, period, done); });
  };
  EXPECT_EQ(modify(16, 100), VerbsError::kNotSupported);
  EXPECT_EQ(modify(0, 0), VerbsError::kNotSupported);
  driver::CqRequest request;
  request.cqe = 16;
  EXPECT_EQ(verbs.right.createCq(request).error, VerbsError::kNone);
  request.cq_count = 16;
  EXPECT_EQ(verbs.right.createCq(request).error, VerbsError::kNotSupported);
  verbs.send();
  EXPECT_EQ(verbs.right.poll(verbs.rightCq.handle).size(), 1U) << "the queue works without";
}

TEST(Cases, C27_ErrorOfAnUnsignaledRequestCompletesAndSoDoesTheRest) {
  VerbsPair verbs;
  SendWorkRequest request = remote(verbs.right, verbs.left.request(SendOpcode::kWrite, 0));
  request.signaled = false;
  request.remoteKey = badKey(verbs.right);
  for (std::uint64_t id = 0; id < 4; ++id) {
    request.workRequestId = id;
    verbs.left.post(verbs.pair.left.handle, request);
  }
  verbs.settle();
  EXPECT_EQ(
      statuses(verbs.left.poll(verbs.leftCq.handle)),
      (Statuses{
          {0, WcStatus::kRemoteAccess}, {1, WcStatus::kFlushed}, {2, WcStatus::kFlushed}, {3, WcStatus::kFlushed}}));
}

TEST(Cases, C27_QueueForNoCompletionOverruns) {
  VerbsPair verbs({}, 1);  // two slots
  std::vector<std::uint8_t> events;
  verbs.left.client().onAsyncEvent([&](std::uint8_t type, std::uint32_t) { events.push_back(type); });
  SendWorkRequest request = remote(verbs.right, verbs.left.request(SendOpcode::kWrite, 0));
  request.signaled = false;
  request.remoteKey = badKey(verbs.right);
  for (int i = 0; i < 4; ++i) verbs.left.post(verbs.pair.left.handle, request);
  verbs.settle();
  EXPECT_EQ(std::count(events.begin(), events.end(), kCqError), 1);
}

// Requests of one to four blocks, so that counters and requests don't go in step, ten times around the ring.
TEST(Cases, C30_CompletionsNameTheRequestByItsPlace) {
  TwoHosts hosts;
  BlockingThread left(hosts, 0), right(hosts, 1);
  const driver::CqCreated leftCq = left.createCq(255), rightCq = right.createCq(255);
  driver::QpRequest request;
  request.maxSendWr = 64;
  request.maxReceiveWr = 1;
  request.maxInline = 220;
  const auto create = [&](BlockingThread& thread, driver::CqHandle cq) {
    return thread.await<driver::QpCreated>([&](auto done) { thread.client().createQp(request, cq, cq, done); });
  };
  const driver::QpCreated from = create(left, leftCq.handle), to = create(right, rightCq.handle);
  ASSERT_EQ(right.connect(to.handle, left.client().lid(), from.number), VerbsError::kNone);
  ASSERT_EQ(left.connect(from.handle, right.client().lid(), to.number), VerbsError::kNone);
  std::mt19937_64 random(7);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::uint64_t> ids;
    for (int i = 0; i < 40; ++i) {
      SendWorkRequest write = remote(right, left.request(SendOpcode::kWrite, random(), 1 + random() % 220));
      write.inlineData = true;
      write.signaled = random() % 3 != 0 || i == 39;
      ASSERT_EQ(left.post(from.handle, write).error, VerbsError::kNone);
      if (write.signaled) ids.push_back(write.workRequestId);
    }
    // The time of the calls, which otherwise adds up until the thread's next step.
    left.await<bool>([&](auto done) { left.client().afterCost([done] { done(true); }); });
    hosts.runFor(microseconds(100));
    std::vector<std::uint64_t> seen;
    for (const WorkCompletion& completion : left.poll(leftCq.handle)) seen.push_back(completion.workRequestId);
    ASSERT_EQ(seen, ids) << round;
  }
}

TEST(Cases, C36_OnlyASignaledCompletionReclaimsUnsignaledRequests) {
  VerbsPair verbs;
  const auto fill = [&](bool lastSignaled) {
    verbs.pair = connectPair(verbs.left, verbs.leftCq.handle, verbs.right, verbs.rightCq.handle, {}, 16);
    EXPECT_EQ(verbs.pair.left.maxSendWr, 16U);
    SendWorkRequest request = remote(verbs.right, verbs.left.request(SendOpcode::kWrite, 0));
    for (int i = 0; i < 16; ++i) {
      request.signaled = lastSignaled && i == 15;
      EXPECT_EQ(verbs.left.post(verbs.pair.left.handle, request).error, VerbsError::kNone);
    }
    verbs.settle();
    return request;
  };
  SendWorkRequest request = fill(false);
  EXPECT_EQ(verbs.left.post(verbs.pair.left.handle, request).error, VerbsError::kNoMemory);
  verbs.hosts.runFor(milliseconds(100));
  verbs.left.poll(verbs.leftCq.handle);
  EXPECT_EQ(verbs.left.post(verbs.pair.left.handle, request).error, VerbsError::kNoMemory) << "for ever";
  request = fill(true);
  EXPECT_EQ(verbs.left.post(verbs.pair.left.handle, request).error, VerbsError::kNoMemory) << "not polled yet";
  EXPECT_EQ(verbs.left.poll(verbs.leftCq.handle).size(), 1U);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(verbs.left.post(verbs.pair.left.handle, request).error, VerbsError::kNone) << i;
  }
}

TEST(Cases, C40_SilenceEndsAsRetryExceededAndFlushesTheRestInOrder) {
  VerbsPair verbs;
  driver::ConnectionAttributes attributes;
  attributes.ackTimeout = 8;  // 4.096 us x 2^8 = 1.05 ms
  attributes.retryCount = 3;
  verbs.pair = connectPair(verbs.left, verbs.leftCq.handle, verbs.right, verbs.rightCq.handle, attributes);
  for (std::uint64_t id = 10; id < 14; ++id) verbs.right.postReceive(verbs.pair.right.handle, id);
  verbs.hosts.runFor(milliseconds(1));
  network::FaultConfig everything;
  everything.loss = 1;
  verbs.hosts.system().cabling().plug(0).link.setFaults(0, network::FaultInjector(everything, 1, 0));
  for (std::uint64_t id = 0; id < 4; ++id) {
    verbs.left.post(verbs.pair.left.handle, verbs.left.request(SendOpcode::kSend, id));
  }
  // Sent once and three times again; each waits for a time-out.
  constexpr Time kTimeOut = picoseconds(4'096'000 * 256);
  const Time start = verbs.hosts.calendar().now();
  verbs.hosts.run(start + kTimeOut * 4 - microseconds(10));
  EXPECT_TRUE(verbs.left.poll(verbs.leftCq.handle).empty());
  verbs.hosts.run(start + kTimeOut * 4 + microseconds(30));
  const auto completions = verbs.left.poll(verbs.leftCq.handle);
  EXPECT_EQ(
      statuses(completions),
      (Statuses{
          {0, WcStatus::kRetryExceeded}, {1, WcStatus::kFlushed}, {2, WcStatus::kFlushed}, {3, WcStatus::kFlushed}}));
  EXPECT_EQ(completions.front().vendorError, 0x81);
  EXPECT_TRUE(verbs.right.poll(verbs.rightCq.handle).empty()) << "the other side learns nothing";
  EXPECT_EQ(verbs.right.modifyToError(verbs.pair.right.handle), VerbsError::kNone);
  verbs.settle();
  EXPECT_EQ(
      statuses(verbs.right.poll(verbs.rightCq.handle)),
      (Statuses{
          {10, WcStatus::kFlushed}, {11, WcStatus::kFlushed}, {12, WcStatus::kFlushed}, {13, WcStatus::kFlushed}}));
}

TEST(Cases, C41_WhatIsPostedInErrorIsFlushedBehindTheRest) {
  VerbsPair verbs;
  const driver::QpHandle qp = verbs.pair.left.handle;
  for (std::uint64_t id = 10; id < 18; ++id) verbs.left.postReceive(qp, id);
  for (std::uint64_t id = 0; id < 5; ++id) verbs.left.post(qp, verbs.left.request(SendOpcode::kSend, id));
  verbs.settle();  // the sends wait for receives
  ASSERT_EQ(verbs.left.modifyToError(qp), VerbsError::kNone);
  ASSERT_EQ(verbs.left.post(qp, verbs.left.request(SendOpcode::kSend, 5)).error, VerbsError::kNone);
  ASSERT_EQ(verbs.left.postReceive(qp, 18).error, VerbsError::kNone);
  verbs.settle();
  Statuses sends, receives;
  for (const auto& completion : statuses(verbs.left.poll(verbs.leftCq.handle))) {
    (completion.first < 10 ? sends : receives).push_back(completion);
  }
  Statuses expectedSends, expectedReceives;
  for (std::uint64_t id = 0; id <= 5; ++id) expectedSends.emplace_back(id, WcStatus::kFlushed);
  for (std::uint64_t id = 10; id <= 18; ++id) expectedReceives.emplace_back(id, WcStatus::kFlushed);
  EXPECT_EQ(sends, expectedSends);
  EXPECT_EQ(receives, expectedReceives);
}

}  // namespace
}  // namespace hca::test

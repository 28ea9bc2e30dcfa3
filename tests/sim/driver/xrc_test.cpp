// XRC through verbs: domains, shared queues, initiators and targets.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/sim/driver/verbs_pair.h"

namespace hca::test {
namespace {

using driver::ObjectKind;
using driver::QpType;
using driver::SendOpcode;
using driver::VerbsError;
using driver::WcOpcode;
using driver::WcStatus;

driver::XrcdOpened openDomain(BlockingThread& thread, std::uint64_t file = 0) {
  return thread.await<driver::XrcdOpened>([&](auto done) { thread.client().openXrcd(file, done); });
}
VerbsError closeDomain(BlockingThread& thread, driver::XrcdHandle domain) {
  return thread.await<VerbsError>([&](auto done) { thread.client().closeXrcd(domain, done); });
}
driver::SrqCreated createQueue(BlockingThread& thread, driver::XrcdHandle domain, driver::CqHandle cq,
                               std::uint32_t depth = 16) {
  const driver::SrqRequest request{depth, 1, driver::XrcSrq{domain, cq}};
  return thread.await<driver::SrqCreated>([&](auto done) { thread.client().createSrq(request, done); });
}
driver::QpCreated createTarget(BlockingThread& thread, driver::XrcdHandle domain) {
  driver::QpRequest request;
  request.type = QpType::kXrcTarget;
  request.domain = domain;
  return thread.await<driver::QpCreated>([&](auto done) { thread.client().createQp(request, {}, {}, done); });
}

/// An initiator at host 0 with its target at host 1, and three shared queues there; the third completes apart.
struct XrcPair {
  XrcPair()
      : left(hosts, 0),
        right(hosts, 1),
        leftCq(left.createCq(255)),
        rightCq(right.createCq(255)),
        otherCq(right.createCq(255)),
        domain(openDomain(right)),
        initiator(left.createQp(leftCq.handle, leftCq.handle, 64, QpType::kXrcInitiator)),
        target(createTarget(right, domain.handle)) {
    EXPECT_EQ(domain.error, VerbsError::kNone);
    EXPECT_EQ(initiator.error, VerbsError::kNone);
    EXPECT_EQ(target.error, VerbsError::kNone);
    for (const driver::CqHandle cq : {rightCq.handle, rightCq.handle, otherCq.handle}) {
      queues.push_back(createQueue(right, domain.handle, cq));
      EXPECT_EQ(queues.back().error, VerbsError::kNone);
    }
    EXPECT_EQ(right.connect(target.handle, left.client().lid(), initiator.number), VerbsError::kNone);
    EXPECT_EQ(left.connect(initiator.handle, right.client().lid(), target.number), VerbsError::kNone);
  }
  driver::SendWorkRequest request(SendOpcode opcode, std::uint64_t id, SrqNumber queue) const {
    driver::SendWorkRequest request = left.request(opcode, id);
    request.remoteSrq = queue;
    request.remoteAddress = right.buffer() + 4096;
    request.remoteKey = right.region().remoteKey;
    return request;
  }
  void settle() { hosts.runFor(microseconds(100)); }

  TwoHosts hosts;
  BlockingThread left, right;
  driver::CqCreated leftCq, rightCq, otherCq;
  driver::XrcdOpened domain;
  driver::QpCreated initiator, target;
  std::vector<driver::SrqCreated> queues;
};

TEST(Xrc, OneTargetServesManySharedQueues) {
  XrcPair pair;
  for (std::uint64_t queue = 0; queue < 3; ++queue) {
    for (std::uint64_t i = 0; i < 4; ++i) pair.right.postSrqReceive(pair.queues[queue].handle, queue * 10 + i);
  }
  const std::size_t order[] = {0, 1, 2, 1, 0, 2};
  for (std::uint64_t id = 0; id < 6; ++id) {
    driver::SendWorkRequest request = pair.request(SendOpcode::kSendImmediate, id, pair.queues[order[id]].number);
    request.immediateOrKey = static_cast<std::uint32_t>(id);
    pair.left.post(pair.initiator.handle, request);
  }
  pair.settle();
  const auto sends = pair.left.poll(pair.leftCq.handle);
  ASSERT_EQ(sends.size(), 6U);
  for (std::uint64_t id = 0; id < 6; ++id) {
    EXPECT_EQ(sends[id].status, WcStatus::kSuccess);
    EXPECT_EQ(sends[id].workRequestId, id);
    EXPECT_EQ(sends[id].qp, pair.initiator.number);
  }
  const auto shared = pair.right.poll(pair.rightCq.handle);
  const auto apart = pair.right.poll(pair.otherCq.handle);
  ASSERT_EQ(shared.size(), 4U);
  ASSERT_EQ(apart.size(), 2U) << "a shared queue completes where it was created for";
  const std::uint64_t receives[] = {0, 10, 11, 1, 20, 21};
  const std::uint32_t messages[] = {0, 1, 3, 4, 2, 5};
  for (std::size_t i = 0; i < 6; ++i) {
    const driver::WorkCompletion& completion = i < 4 ? shared[i] : apart[i - 4];
    EXPECT_EQ(completion.opcode, WcOpcode::kReceive);
    EXPECT_EQ(completion.workRequestId, receives[i]);
    EXPECT_EQ(completion.immediateOrKey, messages[i]);
    EXPECT_EQ(completion.qp, pair.target.number);
    EXPECT_EQ(completion.sourceQp, pair.initiator.number);
    EXPECT_EQ(completion.byteLength, 64U);
  }
}

TEST(Xrc, WritesReadsAndAtomicsGoToTheMemoryOfTheQueuesProgram) {
  XrcPair pair;
  std::uint8_t* there = pair.right.client().bytes(pair.right.buffer() + 4096, 64);
  std::uint8_t* here = pair.left.client().bytes(pair.left.buffer(), 64);
  std::memset(here, 0x5A, 64);
  pair.left.post(pair.initiator.handle, pair.request(SendOpcode::kWrite, 1, pair.queues[0].number));
  pair.settle();
  EXPECT_EQ(there[63], 0x5A);
  std::memset(there, 0x11, 64);
  pair.left.post(pair.initiator.handle, pair.request(SendOpcode::kRead, 2, pair.queues[1].number));
  pair.settle();
  EXPECT_EQ(here[63], 0x11);
  driver::SendWorkRequest atomic = pair.request(SendOpcode::kFetchAdd, 3, pair.queues[0].number);
  atomic.scatterGather.front().length = 8;
  atomic.compareOrAdd = 1;
  pair.left.post(pair.initiator.handle, atomic);
  pair.settle();
  EXPECT_EQ(there[0], 0x12);
  for (const auto& completion : pair.left.poll(pair.leftCq.handle)) EXPECT_EQ(completion.status, WcStatus::kSuccess);
}

TEST(Xrc, AWrongSharedQueueIsAnInvalidRequest) {
  XrcPair pair;
  const driver::SrqCreated basic = pair.right.createSrq(8);
  pair.left.post(pair.initiator.handle, pair.request(SendOpcode::kSend, 1, basic.number));
  pair.settle();
  const auto sends = pair.left.poll(pair.leftCq.handle);
  ASSERT_EQ(sends.size(), 1U);
  EXPECT_EQ(sends[0].status, WcStatus::kRemoteInvalidRequest);
}

// What processes of one host use XRC for: another one's connection reaches their queues.
TEST(Xrc, ProgramsThatNameTheSameFileShareADomain) {
  XrcPair pair;
  BlockingThread other(pair.hosts, 1, 1);
  constexpr std::uint64_t kFile = 77;
  const auto owners = openDomain(pair.right, kFile), others = openDomain(other, kFile);
  ASSERT_EQ(owners.error, VerbsError::kNone);
  ASSERT_EQ(others.error, VerbsError::kNone);
  const driver::CqCreated otherCq = other.createCq(64);
  const driver::SrqCreated queue = createQueue(other, others.handle, otherCq.handle);
  const driver::QpCreated target = createTarget(pair.right, owners.handle);
  const driver::QpCreated initiator =
      pair.left.createQp(pair.leftCq.handle, pair.leftCq.handle, 16, QpType::kXrcInitiator);
  ASSERT_EQ(pair.right.connect(target.handle, pair.left.client().lid(), initiator.number), VerbsError::kNone);
  ASSERT_EQ(pair.left.connect(initiator.handle, pair.right.client().lid(), target.number), VerbsError::kNone);
  other.postSrqReceive(queue.handle, 5);
  pair.left.post(initiator.handle, pair.request(SendOpcode::kSend, 1, queue.number));
  pair.settle();
  const auto receives = other.poll(otherCq.handle);
  ASSERT_EQ(receives.size(), 1U);
  EXPECT_EQ(receives[0].workRequestId, 5U);
  EXPECT_EQ(receives[0].qp, target.number) << "of the other program";
  // It is not the domain of those that named no file.
  pair.left.post(pair.initiator.handle, pair.request(SendOpcode::kSend, 2, queue.number));
  pair.settle();
  const auto sends = pair.left.poll(pair.leftCq.handle);
  ASSERT_EQ(sends.size(), 2U);
  EXPECT_EQ(sends[1].status, WcStatus::kRemoteInvalidRequest);
}

TEST(Xrc, AnEmptyQueueMeansReceiverNotReady) {
  XrcPair pair;
  pair.right.postSrqReceive(pair.queues[1].handle, 1);
  pair.left.post(pair.initiator.handle, pair.request(SendOpcode::kSend, 1, pair.queues[0].number));
  pair.settle();
  EXPECT_TRUE(pair.left.poll(pair.leftCq.handle).empty());
  pair.right.postSrqReceive(pair.queues[0].handle, 2);
  pair.hosts.runFor(milliseconds(2));
  EXPECT_EQ(pair.left.poll(pair.leftCq.handle).size(), 1U);
  const auto receives = pair.right.poll(pair.rightCq.handle);
  ASSERT_EQ(receives.size(), 1U);
  EXPECT_EQ(receives[0].workRequestId, 2U);
}

TEST(Xrc, TheLimitOfASharedQueueIsReported) {
  XrcPair pair;
  std::vector<std::pair<std::uint8_t, std::uint32_t>> events;
  pair.right.client().onAsyncEvent([&](std::uint8_t type, std::uint32_t object) { events.emplace_back(type, object); });
  for (std::uint64_t i = 0; i < 4; ++i) pair.right.postSrqReceive(pair.queues[0].handle, i);
  EXPECT_EQ(pair.right.modifySrq(pair.queues[0].handle, 3), VerbsError::kNone);
  pair.left.post(pair.initiator.handle, pair.request(SendOpcode::kSend, 1, pair.queues[0].number));
  pair.left.post(pair.initiator.handle, pair.request(SendOpcode::kSend, 2, pair.queues[0].number));
  pair.settle();
  constexpr std::uint8_t kLimitReached = 0x14;
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0], std::pair(kLimitReached, pair.queues[0].number.value()));
}

// ---- life of the objects

TEST(Xrc, WhatDoesNotFitIsRefused) {
  XrcPair pair;
  const driver::XrcdHandle unknown(9);
  EXPECT_EQ(createTarget(pair.right, unknown).error, VerbsError::kInvalid);
  EXPECT_EQ(createQueue(pair.right, unknown, pair.rightCq.handle).error, VerbsError::kInvalid);
  EXPECT_EQ(createQueue(pair.right, pair.domain.handle, driver::CqHandle(9)).error, VerbsError::kInvalid);
  EXPECT_EQ(pair.left.createQp(pair.leftCq.handle, {}, 0, QpType::kXrcInitiator).error, VerbsError::kInvalid)
      << "without a send queue";
  EXPECT_EQ(pair.right.createQp(pair.rightCq.handle, pair.rightCq.handle, 16, QpType::kRc, pair.queues[0].handle).error,
            VerbsError::kInvalid)
      << "others don't receive from a queue of XRC";
  EXPECT_EQ(pair.right.post(pair.target.handle, pair.right.request(SendOpcode::kSend, 1)).error, VerbsError::kInvalid);
  EXPECT_EQ(pair.right.postReceive(pair.target.handle, 1).error, VerbsError::kInvalid);
  EXPECT_EQ(pair.left.postReceive(pair.initiator.handle, 1).error, VerbsError::kInvalid);
}

TEST(Xrc, WhatIsInUseStays) {
  XrcPair pair;
  EXPECT_EQ(closeDomain(pair.right, pair.domain.handle), VerbsError::kBusy);
  EXPECT_EQ(pair.right.destroyCq(pair.otherCq.handle), VerbsError::kBusy) << "a shared queue completes there";
  EXPECT_EQ(pair.right.destroyQp(pair.target.handle), VerbsError::kNone);
  EXPECT_EQ(closeDomain(pair.right, pair.domain.handle), VerbsError::kBusy);
  for (const auto& queue : pair.queues) EXPECT_EQ(pair.right.destroySrq(queue.handle), VerbsError::kNone);
  EXPECT_EQ(pair.right.destroyCq(pair.otherCq.handle), VerbsError::kNone);
  EXPECT_EQ(closeDomain(pair.right, pair.domain.handle), VerbsError::kNone);
  EXPECT_EQ(closeDomain(pair.right, pair.domain.handle), VerbsError::kInvalid) << "it is gone";
  EXPECT_EQ(pair.left.destroyQp(pair.initiator.handle), VerbsError::kNone);
}

TEST(Xrc, ASharedDomainLivesAsLongAsSomebodyHoldsIt) {
  TwoHosts hosts;
  BlockingThread first(hosts, 0), second(hosts, 0, 1);
  const auto one = openDomain(first, 5), two = openDomain(second, 5), again = openDomain(second, 5);
  EXPECT_EQ(hosts.driver(0).xrcDomains(), 1U);
  EXPECT_EQ(closeDomain(first, one.handle), VerbsError::kNone);
  const driver::CqCreated cq = second.createCq(16);
  const driver::SrqCreated queue = createQueue(second, two.handle, cq.handle);
  EXPECT_EQ(queue.error, VerbsError::kNone);
  EXPECT_EQ(closeDomain(second, again.handle), VerbsError::kNone) << "it has another hold of it";
  EXPECT_EQ(closeDomain(second, two.handle), VerbsError::kBusy);
  EXPECT_EQ(second.destroySrq(queue.handle), VerbsError::kNone);
  EXPECT_EQ(closeDomain(second, two.handle), VerbsError::kNone);
  EXPECT_EQ(hosts.driver(0).xrcDomains(), 0U);
}

// Both ask before the adapter answered.
TEST(Xrc, ADomainThatIsBeingMadeIsWaitedFor) {
  TwoHosts hosts;
  BlockingThread first(hosts, 0), second(hosts, 0, 1);
  std::vector<VerbsError> errors;
  for (BlockingThread* thread : {&first, &second}) {
    thread->client().openXrcd(5, [&](const driver::XrcdOpened& opened) { errors.push_back(opened.error); });
  }
  hosts.runFor(milliseconds(1));
  EXPECT_EQ(errors, std::vector<VerbsError>(2, VerbsError::kNone));
  EXPECT_EQ(hosts.driver(0).xrcDomains(), 1U);
}

TEST(Xrc, NothingIsLeftBehind) {
  XrcPair pair;
  driver::KernelDriver& kernel = pair.hosts.driver(1);
  EXPECT_EQ(kernel.xrcDomains(), 3U) << "the program's, and two of the driver";
  kernel.releaseOwner(pair.right.client().owner(), [] {});
  pair.hosts.runFor(milliseconds(1));
  EXPECT_EQ(kernel.xrcDomains(), 2U);
  adapter::CommandResult stopped;
  bool isDone = false;
  kernel.stop([&](adapter::CommandResult result) {
    stopped = result;
    isDone = true;
  });
  pair.hosts.runFor(milliseconds(5));
  EXPECT_TRUE(isDone);
  EXPECT_TRUE(stopped.ok());
  EXPECT_EQ(kernel.xrcDomains(), 0U);
  EXPECT_EQ(kernel.pagesGiven(), 0U);
  for (const ObjectKind kind :
       {ObjectKind::kQp, ObjectKind::kSrq, ObjectKind::kXrcSrq, ObjectKind::kCq, ObjectKind::kPd}) {
    EXPECT_EQ(kernel.objects(kind), 0U) << static_cast<int>(kind);
  }
}

// ---- targets that several clients have open

/// Counts the asynchronous events that a client is told.
struct TargetWatcher final : driver::DriverClient {
  void onCompletionEvent(CqNumber, host::Core&) override {}
  void onAsyncEvent(std::uint8_t type, std::uint8_t, std::uint32_t object, std::uint8_t) override {
    events.emplace_back(type, object);
  }
  std::vector<std::pair<std::uint8_t, std::uint32_t>> events;
};

struct OpenTargets : testing::Test {
  using Status = adapter::CommandStatus;
  adapter::XrcdNumber open(OwnerId who, std::uint64_t file) {
    return pair.hosts.await<driver::Answer<adapter::XrcdNumber>>([&](auto done) { kernel.openXrcd(who, file, done); })
        .value;
  }
  Status openQp(OwnerId who, adapter::XrcdNumber of, QpNumber qp) {
    return pair.hosts.await<driver::Answer<int>>([&](auto done) { kernel.openQp(who, of, qp, done); }).result.status;
  }
  Status destroy(OwnerId who, QpNumber qp) {
    return pair.hosts.await<driver::Answer<int>>([&](auto done) { kernel.destroyQp(who, qp, done); }).result.status;
  }
  Status close(OwnerId who, adapter::XrcdNumber what) {
    return pair.hosts.await<driver::Answer<int>>([&](auto done) { kernel.closeXrcd(who, what, done); }).result.status;
  }
  driver::Answer<QpNumber> make(OwnerId who, adapter::XrcdNumber of) {
    adapter::QpAttributes wanted;
    wanted.service = adapter::QpService::kXrc;
    wanted.domain = of;
    wanted.hasSendQueue = false;
    return pair.hosts.await<driver::Answer<QpNumber>>([&](auto done) { kernel.createQp(who, wanted, done); });
  }

  static constexpr std::uint64_t kFile = 77;
  XrcPair pair;
  driver::KernelDriver& kernel = pair.hosts.driver(1);
  TargetWatcher makerClient, openerClient, strangerClient;
  OwnerId maker = kernel.addClient(makerClient, "maker");
  OwnerId opener = kernel.addClient(openerClient, "opener");
  OwnerId stranger = kernel.addClient(strangerClient, "stranger");
  adapter::XrcdNumber domain = open(maker, kFile);
  QpNumber target = make(maker, domain).value;
};

TEST_F(OpenTargets, OnlyWhoHoldsTheDomainMayOpen) {
  EXPECT_EQ(openQp(opener, domain, target), Status::kBadResource) << "doesn't hold the domain";
  EXPECT_EQ(open(opener, kFile), domain);
  EXPECT_EQ(openQp(opener, domain, QpNumber(target.value() + 1)), Status::kBadResource) << "no such target";
  const adapter::XrcdNumber other = open(opener, kFile + 1);
  EXPECT_EQ(openQp(opener, other, target), Status::kBadResource) << "of another domain";
  EXPECT_EQ(openQp(opener, domain, target), Status::kOk);
  EXPECT_EQ(close(opener, domain), Status::kResourceBusy) << "needed by what it opened";
}

TEST_F(OpenTargets, GoesWithTheLastAndNotBefore) {
  open(opener, kFile);
  ASSERT_EQ(openQp(opener, domain, target), Status::kOk);
  const auto table = [&] { return pair.hosts.system().host(1).adapter().hca().queuePairs().size(); };
  const auto before = table();
  EXPECT_EQ(destroy(stranger, target), Status::kBadResource);
  EXPECT_EQ(destroy(maker, target), Status::kOk);
  EXPECT_EQ(table(), before);
  EXPECT_EQ(destroy(maker, target), Status::kBadResource) << "has it no more";
  EXPECT_EQ(close(maker, domain), Status::kOk);
  EXPECT_EQ(destroy(opener, target), Status::kOk);
  EXPECT_EQ(table(), before - 1);
  EXPECT_EQ(close(opener, domain), Status::kOk);
}

TEST_F(OpenTargets, OutlivesAClientThatDies) {
  open(opener, kFile);
  ASSERT_EQ(openQp(opener, domain, target), Status::kOk);
  bool isGone = false;
  kernel.releaseOwner(maker, [&] { isGone = true; });
  pair.hosts.runFor(milliseconds(1));
  EXPECT_TRUE(isGone);
  adapter::QpAttributes found;
  EXPECT_TRUE(pair.hosts.system().host(1).adapter().hca().queuePairs().query(target, found).ok());
  EXPECT_EQ(destroy(opener, target), Status::kOk);
}

}  // namespace
}  // namespace hca::test

// Tag-matching receive queues, as the driver makes them.
#include <gtest/gtest.h>

#include "models/wire/shared_receive_context.h"
#include "tests/sim/driver/verbs_pair.h"

namespace hca::test {
namespace {

using driver::ObjectKind;

/// A client of host 0 with what such a queue needs.
struct TagQueueBench {
  TagQueueBench() : thread(hosts, 0), cq(thread.createCq(10)), memory(hosts.system().host(0).memory(), "program") {
    const auto pd = await<PdNumber>([this](auto done) { kernel().allocatePd(owner(), done); });
    EXPECT_TRUE(pd.ok());
    wanted.kind = adapter::SrqKind::kTagMatching;
    wanted.topology = wire::TagMatchingQueueContext::kTagMatching;
    wanted.logTags = kernel().capabilities().logTagList;
    wanted.offersRendezvous = true;
    wanted.cq = cq.number;
    wanted.userIndex = 0x123;
    wanted.pd = pd.value;
    wanted.logSize = 4;
    wanted.logStride = 5;
    wanted.buffer.pages = {memory.allocate(4096).bus};
    wanted.doorbellRecord = memory.allocate(4096).bus;
  }
  template <class Value, class Start>
  driver::Answer<Value> await(Start start) {
    return hosts.await<driver::Answer<Value>>(start);
  }
  driver::Answer<SrqNumber> create() {
    return await<SrqNumber>([this](auto done) { kernel().createSrq(owner(), wanted, done); });
  }
  driver::KernelDriver& kernel() { return hosts.driver(0); }
  OwnerId owner() { return thread.client().owner(); }

  TwoHosts hosts;
  BlockingThread thread;
  driver::CqCreated cq;
  driver::DmaMemory memory;
  adapter::SrqAttributes wanted;
};

TEST(TagQueue, LivesByItsOwnCommands) {
  TagQueueBench bench;
  EXPECT_EQ(bench.kernel().capabilities().logTagList, 7);
  EXPECT_TRUE(bench.kernel().capabilities().rendezvous);
  const auto queue = bench.create();
  ASSERT_TRUE(queue.ok());
  EXPECT_EQ(bench.kernel().objects(ObjectKind::kXrq), 1U);
  const auto arm = [&](std::uint16_t limit) {
    return bench.await<int>([&](auto done) { bench.kernel().armSrq(bench.owner(), queue.value, limit, done); }).ok();
  };
  EXPECT_FALSE(arm(17)) << "more than it has entries";
  EXPECT_TRUE(arm(0));
  const auto context = bench.await<adapter::SrqAttributes>(
      [&](auto done) { bench.kernel().querySrq(bench.owner(), queue.value, done); });
  ASSERT_TRUE(context.ok());
  EXPECT_EQ(context.value.kind, adapter::SrqKind::kTagMatching);
  EXPECT_EQ(context.value.logTags, 7);
  EXPECT_EQ(context.value.cq, bench.cq.number);
  EXPECT_EQ(context.value.hardwarePhase, 0);
  EXPECT_EQ(bench.thread.destroyCq(bench.cq.handle), driver::VerbsError::kBusy) << "the queue completes there";
  const auto gone = bench.await<int>([&](auto done) { bench.kernel().destroySrq(bench.owner(), queue.value, done); });
  EXPECT_TRUE(gone.ok());
  EXPECT_EQ(bench.kernel().objects(ObjectKind::kXrq), 0U);
}

TEST(TagQueue, WhatTheAdapterDoesNotHaveIsRefused) {
  TagQueueBench bench;
  bench.wanted.logTags = 8;
  EXPECT_EQ(bench.create().result.syndrome, adapter::Syndrome::kSrqTagListTooLong);
  bench.wanted.logTags = 7;
  bench.wanted.topology = 0;
  EXPECT_EQ(bench.create().result.syndrome, adapter::Syndrome::kSrqFormatUnsupported);
  bench.wanted.topology = 1;
  bench.wanted.cq = CqNumber(0xFFFF);
  EXPECT_EQ(bench.create().result.syndrome, adapter::Syndrome::kSrqCqUnknown);
  EXPECT_EQ(bench.kernel().objects(ObjectKind::kXrq), 0U);
}

TEST(TagQueue, GoesWithItsClient) {
  TagQueueBench bench;
  ASSERT_TRUE(bench.create().ok());
  bench.hosts.await<int>([&](auto done) { bench.kernel().releaseOwner(bench.owner(), [done] { done(0); }); });
  EXPECT_EQ(bench.kernel().objects(ObjectKind::kXrq), 0U);
}

}  // namespace
}  // namespace hca::test

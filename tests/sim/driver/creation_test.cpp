// Creation of completion queues: what it needs, what it refuses, and that a refusal leaves nothing behind.
#include <gtest/gtest.h>

#include "tests/sim/driver/verbs_pair.h"

namespace hca::test {
namespace {

using driver::CqRequest;
using driver::ObjectKind;
using driver::VerbsError;

CqRequest depth(std::int32_t cqe) {
  CqRequest request;
  request.cqe = cqe;
  return request;
}

/// Everything that a creation could leave behind.
struct Holdings {
  explicit Holdings(BlockingThread& thread)
      : queues(thread.hosts().driver(thread.host()).objects(ObjectKind::kCq)),
        pairs(thread.hosts().driver(thread.host()).objects(ObjectKind::kQp)),
        keys(thread.hosts().driver(thread.host()).objects(ObjectKind::kMemoryKey)),
        bytes(thread.client().allocatedBytes()) {}
  friend bool operator==(const Holdings& a, const Holdings& b) {
    return a.queues == b.queues && a.pairs == b.pairs && a.keys == b.keys && a.bytes == b.bytes;
  }
  std::size_t queues, pairs, keys;
  std::uint64_t bytes;
};

TEST(CqCreation, DepthIsNeverLessThanAskedAndIsReported) {
  TwoHosts hosts;
  BlockingThread thread(hosts, 0);
  for (const std::int32_t cqe : {1, 2, 3, 7, 8, 100, 127, 128, 1000}) {
    const driver::CqCreated created = thread.createCq(cqe, false);
    ASSERT_EQ(created.error, VerbsError::kNone) << cqe;
    EXPECT_GE(created.cqe, static_cast<std::uint32_t>(cqe));
    const auto context = thread.await<driver::Answer<adapter::CqAttributes>>(
        [&](auto done) { hosts.driver(0).queryCq(thread.client().owner(), created.number, done); });
    ASSERT_TRUE(context.ok());
    EXPECT_EQ(std::uint32_t{1} << context.value.logSize, created.cqe + 1);
  }
}

TEST(CqCreation, NeedsNoProtectionDomain) {
  TwoHosts hosts;
  driver::KernelDriver& driver = hosts.driver(0);
  driver::ThreadClient& client = hosts.addThread(0);
  const auto uar = hosts.await<driver::Answer<UarIndex>>([&](auto done) { driver.allocateUar(client.owner(), done); });
  ASSERT_TRUE(uar.ok());
  EXPECT_EQ(driver.objects(ObjectKind::kPd), 0U);
  driver::DmaMemory memory(hosts.system().host(0).memory(), "program");
  const driver::DmaBuffer ring = memory.allocate(4096);
  const driver::DmaBuffer record = memory.allocate(4096);
  adapter::CqAttributes attributes;
  attributes.logSize = 6;
  attributes.uar = uar.value;
  attributes.ring.pages.push_back(ring.bus);
  attributes.doorbellRecord = record.bus;
  const auto created =
      hosts.await<driver::Answer<CqNumber>>([&](auto done) { driver.createCq(client.owner(), attributes, 0, done); });
  EXPECT_TRUE(created.ok());
  EXPECT_EQ(driver.objects(ObjectKind::kPd), 0U);
}

TEST(CqCreation, RefusesWhatIsOutOfRangeAndLeavesNothingBehind) {
  TwoHosts hosts;
  BlockingThread thread(hosts, 0);
  thread.createCq(10);  // the page of doorbell records stays from here on
  const Holdings before(thread);
  const auto most = static_cast<std::int32_t>(hosts.driver(0).capabilities().limits.maxCqEntries);
  for (const std::int32_t cqe : {0, -1, most, INT32_MAX}) {
    EXPECT_EQ(thread.createCq(depth(cqe)).error, VerbsError::kInvalid) << cqe;
  }
  for (const std::uint32_t vector : {hosts.driver(0).completionVectors(), 0xFFFFFFFFU}) {
    CqRequest request = depth(10);
    request.comp_vector = vector;
    EXPECT_EQ(thread.createCq(request).error, VerbsError::kInvalid) << vector;
  }
  for (const std::uint32_t size : {0U, 32U, 65U, 256U}) {
    CqRequest request = depth(10);
    request.cqe_size = size;
    EXPECT_EQ(thread.createCq(request).error, VerbsError::kInvalid) << size;
  }
  EXPECT_TRUE(Holdings(thread) == before);
}

TEST(CqCreation, CombinationsThatAreNoneAreRefused) {
  TwoHosts hosts;
  BlockingThread thread(hosts, 0);
  CqRequest padded = depth(10);
  padded.padded = true;
  EXPECT_EQ(thread.createCq(padded).error, VerbsError::kInvalid) << "64 bytes have nothing to pad";
  padded.cqe_size = 128;
  EXPECT_EQ(thread.createCq(padded).error, VerbsError::kNone);
  CqRequest compressed = depth(10);
  compressed.compression.layout = driver::CompressionKind::kEnhanced;
  EXPECT_EQ(thread.createCq(compressed).error, VerbsError::kNone);
  compressed.cqe_size = 128;
  EXPECT_EQ(thread.createCq(compressed).error, VerbsError::kInvalid) << "64 bytes alone can be compressed";
}

TEST(CqCreation, WhatTheAdapterLacksIsRefused) {
  TwoHosts hosts([](config::Config& config) {
    config.allHosts.adapter.completion.enhancedCompression = false;
    config.allHosts.adapter.completion.realTimeStamps = false;
  });
  BlockingThread thread(hosts, 0);
  CqRequest compressed = depth(10);
  compressed.compression.layout = driver::CompressionKind::kBasic;
  EXPECT_EQ(thread.createCq(compressed).error, VerbsError::kNone);
  compressed.compression.layout = driver::CompressionKind::kEnhanced;
  EXPECT_EQ(thread.createCq(compressed).error, VerbsError::kNotSupported);
  CqRequest realTime = depth(10);
  realTime.realTimeStamps = true;
  EXPECT_EQ(thread.createCq(realTime).error, VerbsError::kNotSupported);
}

TEST(CqCreation, AdapterWithoutCompressionSaysSo) {
  TwoHosts hosts([](config::Config& config) { config.allHosts.adapter.completion.compressionMax = 0; });
  BlockingThread thread(hosts, 0);
  CqRequest compressed = depth(10);
  compressed.compression.layout = driver::CompressionKind::kBasic;
  EXPECT_EQ(thread.createCq(compressed).error, VerbsError::kNotSupported);
}

TEST(CqCreation, TakesEveryVectorAndTheGreatestDepth) {
  TwoHosts hosts;
  BlockingThread thread(hosts, 0);
  for (std::uint32_t vector = 0; vector < hosts.driver(0).completionVectors(); ++vector) {
    CqRequest request = depth(10);
    request.comp_vector = vector;
    EXPECT_EQ(thread.createCq(request).error, VerbsError::kNone) << vector;
  }
  const auto most = static_cast<std::int32_t>(hosts.driver(0).capabilities().limits.maxCqEntries) - 1;
  const driver::CqCreated created = thread.createCq(depth(most));
  EXPECT_EQ(created.error, VerbsError::kNone);
  EXPECT_EQ(created.cqe, static_cast<std::uint32_t>(most));
}

TEST(CqCreation, PeriodBeyondItsFieldIsRefusedAndLeavesNothingBehind) {
  TwoHosts hosts;
  BlockingThread thread(hosts, 0);
  thread.createCq(10);
  const Holdings before(thread);
  CqRequest request = depth(10);
  request.cq_period = 4096;  // the field has twelve bits
  EXPECT_EQ(thread.createCq(request).error, VerbsError::kInvalid);
  EXPECT_TRUE(Holdings(thread) == before);
  request.cq_period = 4095;
  EXPECT_EQ(thread.createCq(request).error, VerbsError::kNone);
}

TEST(CqCreation, DestroyGivesEverythingBack) {
  TwoHosts hosts;
  BlockingThread thread(hosts, 0);
  thread.createCq(10);
  const Holdings before(thread);
  for (int round = 0; round < 20; ++round) {
    const driver::CqCreated cq = thread.createCq(500);
    const driver::QpCreated qp = thread.createQp(cq.handle, cq.handle);
    ASSERT_EQ(qp.error, VerbsError::kNone);
    ASSERT_EQ(thread.destroyQp(qp.handle), VerbsError::kNone);
    ASSERT_EQ(thread.destroyCq(cq.handle), VerbsError::kNone);
  }
  EXPECT_TRUE(Holdings(thread) == before);
}

TEST(QpCreation, ReportsActualLimitsAndRefusesTooMuch) {
  TwoHosts hosts;
  BlockingThread thread(hosts, 0);
  const driver::CqCreated cq = thread.createCq(10);
  const Holdings before(thread);
  const driver::QpCreated created = thread.createQp(cq.handle, cq.handle, 33);
  EXPECT_GE(created.maxSendWr, 33U);
  EXPECT_GE(created.maxReceiveWr, 33U);
  EXPECT_GE(created.maxInline, 60U);
  EXPECT_EQ(thread.destroyQp(created.handle), VerbsError::kNone);
  EXPECT_EQ(thread.createQp(cq.handle, cq.handle, 1U << 20).error, VerbsError::kInvalid);
  EXPECT_EQ(thread.createQp(driver::CqHandle(77), cq.handle).error, VerbsError::kInvalid);
  EXPECT_TRUE(Holdings(thread) == before);
}

TEST(MemoryRegistration, FollowsTheRulesOfVerbs) {
  TwoHosts hosts;
  BlockingThread thread(hosts, 0);
  const std::uint64_t address = thread.client().allocate(10'000, 64);
  using driver::MemoryAccess;
  const auto remoteWrite = static_cast<std::uint32_t>(MemoryAccess::kRemoteWrite);
  const auto localWrite = static_cast<std::uint32_t>(MemoryAccess::kLocalWrite);
  EXPECT_EQ(thread.registerBuffer(address, 10'000, remoteWrite).error, VerbsError::kInvalid);
  EXPECT_EQ(thread.registerBuffer(address, 0, localWrite).error, VerbsError::kInvalid);
  EXPECT_EQ(thread.registerBuffer(address, 1U << 30, localWrite).error, VerbsError::kInvalid);
  const driver::MrRegistered region = thread.registerBuffer(address + 5000, 5000, remoteWrite | localWrite);
  ASSERT_EQ(region.error, VerbsError::kNone);
  EXPECT_EQ(thread.await<VerbsError>([&](auto done) { thread.client().deregisterMemory(region.handle, done); }),
            VerbsError::kNone);
  EXPECT_EQ(thread.await<VerbsError>([&](auto done) { thread.client().deregisterMemory(region.handle, done); }),
            VerbsError::kInvalid);
}

TEST(Ownership, NobodyTouchesAnothersObjects) {
  TwoHosts hosts;
  BlockingThread mine(hosts, 0);
  BlockingThread other(hosts, 0, 1);
  const driver::CqCreated cq = mine.createCq(10);
  const auto answer = mine.await<driver::Answer<int>>(
      [&](auto done) { hosts.driver(0).destroyCq(other.client().owner(), cq.number, done); });
  EXPECT_FALSE(answer.ok());
  EXPECT_EQ(mine.destroyCq(cq.handle), VerbsError::kNone);
}

TEST(Ownership, ReleaseDestroysInTheOrderOfDependencies) {
  TwoHosts hosts;
  driver::KernelDriver& driver = hosts.driver(0);
  BlockingThread thread(hosts, 0);
  BlockingThread survivor(hosts, 0, 1);
  const driver::CqCreated kept = survivor.createCq(10);
  for (int i = 0; i < 3; ++i) {
    const driver::CqCreated cq = thread.createCq(10);
    for (int j = 0; j < 4; ++j) ASSERT_EQ(thread.createQp(cq.handle, cq.handle).error, VerbsError::kNone);
  }
  EXPECT_EQ(driver.objects(ObjectKind::kQp), 12U);
  bool released = false;
  driver.releaseOwner(thread.client().owner(), [&] {
    released = true;
    hosts.system().stop();
  });
  hosts.run();
  EXPECT_TRUE(released);
  EXPECT_EQ(driver.objects(ObjectKind::kQp), 0U);
  EXPECT_EQ(driver.objects(ObjectKind::kCq), 1U);
  EXPECT_EQ(driver.objects(ObjectKind::kMemoryKey), 1U);
  EXPECT_EQ(driver.objects(ObjectKind::kPd), 1U);
  EXPECT_EQ(driver.objects(ObjectKind::kUar), 1U);
  EXPECT_EQ(survivor.destroyCq(kept.handle), VerbsError::kNone);
}

}  // namespace
}  // namespace hca::test

// Memory keys that the driver changes by work requests of its own.
#include <gtest/gtest.h>

#include "models/wire/wqe.h"
#include "tests/sim/driver/two_hosts.h"

namespace hca::test {
namespace {

namespace key_mask = wire::key_mask;
using driver::Answer;

class NoEvents final : public driver::DriverClient {
  void onCompletionEvent(CqNumber, host::Core&) override {}
  void onAsyncEvent(std::uint8_t, std::uint8_t, std::uint32_t, std::uint8_t) override {}
};

struct KeyUpdates : ::testing::Test {
  KeyUpdates() : driver(hosts.driver(0)), owner(driver.addClient(client, "test")) {
    first = hosts.await<Answer<PdNumber>>([&](auto done) { driver.allocatePd(owner, done); }).value;
    second = hosts.await<Answer<PdNumber>>([&](auto done) { driver.allocatePd(owner, done); }).value;
    attributes.pd = first;
    attributes.updatable = true;
    attributes.translationOctwords = 4;
    attributes.rights.localRead = true;
    attributes.start = 0x1000;
    attributes.length = 0x1000;
    attributes.pages = {BusAddress(0x10000)};
  }
  MemoryKey create() {
    return hosts.await<Answer<MemoryKey>>([&](auto done) { driver.createMkey(owner, attributes, done); }).value;
  }
  bool update(MemoryKey key, std::uint64_t mask, const adapter::MkeyAttributes& wanted) {
    return hosts.await<Answer<int>>([&](auto done) { driver.updateMkey(owner, key, mask, wanted, done); }).ok();
  }
  adapter::MkeyAttributes query(MemoryKey key) {
    adapter::MkeyAttributes found;
    const adapter::MkeyIndex index(key.value() >> 8);
    EXPECT_TRUE(hosts.system().host(0).adapter().hca().memoryKeys().query(index, found).ok());
    return found;
  }

  TwoHosts hosts;
  NoEvents client;
  driver::KernelDriver& driver;
  OwnerId owner;
  PdNumber first, second;
  adapter::MkeyAttributes attributes;
};

TEST_F(KeyUpdates, RightsAndDomainChangeWhereTheKeyIsUpdatable) {
  const MemoryKey key = create();
  adapter::MkeyAttributes wanted = attributes;
  wanted.pages.clear();
  wanted.rights.remoteWrite = wanted.rights.localWrite = true;
  wanted.pd = second;
  EXPECT_TRUE(update(key, key_mask::kLocalWrite | key_mask::kRemoteWrite | key_mask::kProtectionDomain, wanted));
  const adapter::MkeyAttributes now = query(key);
  EXPECT_TRUE(now.rights.remoteWrite && now.rights.localRead);
  EXPECT_EQ(now.pd, second);
  EXPECT_EQ(now.start, attributes.start);
  EXPECT_EQ(now.pages.at(0), attributes.pages.at(0));
  // The first domain has no holder any more, the second one has.
  const auto free = [&](PdNumber pd) {
    return hosts.await<Answer<int>>([&](auto done) { driver.deallocatePd(owner, pd, done); }).ok();
  };
  EXPECT_TRUE(free(first));
  EXPECT_FALSE(free(second));
}

TEST_F(KeyUpdates, TranslationsAreReplacedAsFarAsTheKeyHasRoom) {
  const MemoryKey key = create();
  const std::uint64_t mask = key_mask::kStart | key_mask::kLength | key_mask::kPageSize;
  adapter::MkeyAttributes wanted = attributes;
  wanted.start = 0x5000;
  wanted.pages.clear();
  for (std::uint64_t page = 0; page < 8; ++page) wanted.pages.emplace_back(0x40000 + page * 0x1000);
  wanted.length = 8 * 0x1000;
  EXPECT_TRUE(update(key, mask, wanted));
  EXPECT_EQ(query(key).start, 0x5000U);
  EXPECT_EQ(query(key).pages.at(7), BusAddress(0x47000));
  adapter::MkeyAttributes larger = wanted;
  larger.pages.emplace_back(0x48000);
  larger.length = 9 * 0x1000;
  EXPECT_FALSE(update(key, mask, larger)) << "four units of 16 bytes hold eight pages";
  EXPECT_EQ(query(key).length, wanted.length) << "a refused update changes nothing";
  // The queue pair of the driver failed with it, and the next one works.
  EXPECT_TRUE(update(key, mask, attributes));
  EXPECT_EQ(query(key).start, attributes.start);
}

TEST_F(KeyUpdates, KeysThatAreNotUpdatableOrNotOnesOwnStayAsTheyAre) {
  attributes.updatable = false;
  const MemoryKey key = create();
  EXPECT_FALSE(update(key, key_mask::kLocalWrite, attributes));
  EXPECT_FALSE(update(MemoryKey(key.value() + 0x100), key_mask::kLocalWrite, attributes));
}

TEST_F(KeyUpdates, ManyAtOnceAreDoneInTheirOrder) {
  const MemoryKey key = create();
  int done = 0;
  for (int i = 0; i < 20; ++i) {
    adapter::MkeyAttributes wanted = attributes;
    wanted.start = 0x1000 * static_cast<std::uint64_t>(i + 1);
    driver.updateMkey(owner, key, key_mask::kStart, wanted, [&done, i](const Answer<int>& answer) {
      EXPECT_TRUE(answer.ok());
      EXPECT_EQ(done++, i);
    });
  }
  hosts.run();
  EXPECT_EQ(done, 20);
  EXPECT_EQ(query(key).start, 20U * 0x1000);
}

TEST_F(KeyUpdates, LeaveNothingBehind) {
  EXPECT_TRUE(update(create(), key_mask::kStart, attributes));
  const auto stopped =
      hosts.await<adapter::CommandResult>([&](auto done) { driver.stop([done](auto result) { done(result); }); });
  EXPECT_TRUE(stopped.ok());
  EXPECT_EQ(driver.pagesGiven(), 0U);
}

}  // namespace
}  // namespace hca::test

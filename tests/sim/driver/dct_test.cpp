// Targets of dynamic connections as the driver role keeps them.
#include <gtest/gtest.h>

#include "tests/sim/driver/verbs_pair.h"

namespace hca::test {
namespace {

using adapter::CommandStatus;
using driver::Answer;

struct TargetOwner final : driver::DriverClient {
  void onCompletionEvent(CqNumber, host::Core&) override {}
  void onAsyncEvent(std::uint8_t, std::uint8_t, std::uint32_t, std::uint8_t) override {}
};

struct DctOfDriver : testing::Test {
  Answer<QpNumber> create() {
    adapter::QpAttributes wanted;
    wanted.service = adapter::QpService::kDct;
    wanted.pd = pd;
    wanted.sendCq = wanted.receiveCq = cq.number;
    wanted.srq = srq.number;
    wanted.path.port = 1;
    return hosts.await<Answer<QpNumber>>([&](auto done) { driver.createDct(owner, wanted, done); });
  }
  CommandStatus destroy(OwnerId who, QpNumber target) {
    return hosts.await<Answer<int>>([&](auto done) { driver.destroyDct(who, target, done); }).result.status;
  }
  std::size_t queuePairs() { return hosts.system().host(0).adapter().hca().queuePairs().size(); }

  TwoHosts hosts;
  BlockingThread thread{hosts, 0};
  driver::CqCreated cq = thread.createCq(15);
  driver::SrqCreated srq = thread.createSrq(15);
  driver::KernelDriver& driver = hosts.driver(0);
  TargetOwner client;
  OwnerId owner = driver.addClient(client, "targets");
  PdNumber pd = hosts.await<Answer<PdNumber>>([&](auto done) { driver.allocatePd(owner, done); }).value;
};

TEST_F(DctOfDriver, DrainsBeforeItDestroys) {
  EXPECT_TRUE(driver.capabilities().dynamicConnections);
  const std::size_t before = queuePairs();
  const auto made = create();
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(queuePairs(), before + 1);
  EXPECT_EQ(destroy(OwnerId(999), made.value), CommandStatus::kBadResource);
  EXPECT_EQ(destroy(owner, made.value), CommandStatus::kOk);
  EXPECT_EQ(queuePairs(), before);
  EXPECT_EQ(destroy(owner, made.value), CommandStatus::kBadResource);
  EXPECT_EQ(driver.strayEvents(), 0U);
}

TEST_F(DctOfDriver, GoesWithItsOwner) {
  ASSERT_TRUE(create().ok());
  ASSERT_TRUE(create().ok());
  bool isGone = false;
  driver.releaseOwner(owner, [&] { isGone = true; });
  hosts.runFor(milliseconds(1));
  EXPECT_TRUE(isGone);
  EXPECT_EQ(driver.objects(driver::ObjectKind::kDct), 0U);
  EXPECT_EQ(driver.strayEvents(), 0U);
}

}  // namespace
}  // namespace hca::test

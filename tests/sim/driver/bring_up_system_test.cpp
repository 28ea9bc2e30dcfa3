// The driver role against the real adapter: up and down.
#include <gtest/gtest.h>

#include "tests/sim/driver/two_hosts.h"

namespace hca::test {
namespace {

TEST(BringUp, BothAdaptersComeUp) {
  TwoHosts hosts;
  ASSERT_EQ(hosts.problem(), "");
  for (std::size_t host = 0; host < 2; ++host) {
    const driver::DeviceCapabilities& device = hosts.driver(host).capabilities();
    EXPECT_EQ(device.vendorId, 0x15B3);
    EXPECT_NE(device.port(1).lid, Lid(0));
    EXPECT_GT(hosts.driver(host).completionVectors(), 0U);
    EXPECT_GT(hosts.driver(host).pagesGiven(), 0U);
  }
  EXPECT_NE(hosts.driver(0).capabilities().port(1).lid, hosts.driver(1).capabilities().port(1).lid);
}

// The device is ready after a millisecond. A driver that looked all the time would need two thousand reads, and a
// fabric of a thousand hosts most of a minute.
TEST(BringUp, DriverPausesBetweenItsLooksAtADeviceThatIsNotReady) {
  TwoHosts hosts;
  ASSERT_EQ(hosts.problem(), "");
  const auto& counts = hosts.system().host(0).adapter().pcieLink().counts(pcie::Link::Direction::kDownstream);
  const std::uint64_t reads = counts[static_cast<std::size_t>(pcie::Traffic::kMmioRead)].tlps;
  EXPECT_GT(reads, 50U);
  EXPECT_LT(reads, 200U);
}

TEST(BringUp, DownReturnsEveryPageAndUpWorksAgain) {
  TwoHosts hosts;
  ASSERT_EQ(hosts.problem(), "");
  driver::KernelDriver& driver = hosts.driver(0);
  const auto down = hosts.await<adapter::CommandResult>([&](auto done) { driver.stop(done); });
  EXPECT_TRUE(down.ok());
  EXPECT_EQ(driver.pagesGiven(), 0U);
  const auto up = hosts.await<adapter::CommandResult>([&](auto done) { driver.start(done); });
  EXPECT_TRUE(up.ok()) << static_cast<unsigned>(up.status);
}

}  // namespace
}  // namespace hca::test

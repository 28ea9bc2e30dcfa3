// The assembled system: bring-up, and one message from post to poll.
#include "sim/system/system.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sim/driver/thread_client.h"

namespace hca::sim {
namespace {

config::Config twoHosts() {
  config::Config config;
  config.hosts.resize(config.host.count);
  return config;
}

TEST(System, BringsBothAdaptersUp) {
  System system(twoHosts());
  EXPECT_EQ(system.bringUp(), "");
  EXPECT_GT(system.host(0).adapter().driver().completionVectors(), 0u);
  EXPECT_GT(system.host(0).adapter().driver().pagesGiven(), 0u);
}

TEST(System, TearsDownWithoutALeak) {
  System system(twoHosts());
  ASSERT_EQ(system.bringUp(), "");
  bool done = false;
  system.host(0).adapter().driver().stop([&](adapter::CommandResult result) {
    done = result.ok();
    system.stop();
  });
  EXPECT_TRUE(system.run());
  EXPECT_TRUE(done);
  EXPECT_EQ(system.host(0).adapter().driver().pagesGiven(), 0u);
}

config::Config hosts(std::uint32_t count) {
  config::Config config;
  config.host.count = count;
  config.hosts.resize(count);
  return config;
}

TEST(System, TwoHostsAreConnectedBackToBackUnlessASwitchIsAskedFor) {
  EXPECT_FALSE(System(hosts(2)).cabling().hasSwitch());
}

TEST(System, ASwitchMayStandBetweenTwoHosts) {
  config::Config config = hosts(2);
  config.fabricSwitch.always = true;
  System system(config);
  EXPECT_TRUE(system.cabling().hasSwitch());
  EXPECT_NE(&system.cabling().plug(0).link, &system.cabling().plug(1).link);
  EXPECT_EQ(system.bringUp(), "");
}

TEST(System, MoreHostsAreAtASwitch) {
  System system(hosts(3));
  EXPECT_TRUE(system.cabling().hasSwitch());
  EXPECT_EQ(system.hosts(), 3u);
  EXPECT_EQ(system.bringUp(), "");
  EXPECT_GT(system.host(2).adapter().driver().completionVectors(), 0u);
}

TEST(System, SystemCNamesFollowTheConfiguration) {
  System system(twoHosts());
  EXPECT_NE(sc_core::sc_find_object("host.1.pcie"), nullptr);
}

}  // namespace
}  // namespace hca::sim

// Systems whose hosts have several adapters, and adapters two ports.
#include <gtest/gtest.h>

#include <vector>

#include "sim/driver/thread_client.h"
#include "sim/system/system.h"

namespace hca::sim {
namespace {

config::Config hostsWith(std::uint32_t adapters, std::uint32_t ports, std::uint32_t count = 2) {
  config::Config config;
  config.host.count = count;
  config.hosts.resize(count);
  for (config::HostSections& host : config.hosts) {
    host.host.adapters = adapters;
    host.adapter.device.ports = ports;
  }
  return config;
}

std::vector<std::uint16_t> lids(System& system) {
  std::vector<std::uint16_t> all;
  for (std::size_t i = 0; i < system.hosts(); ++i) {
    for (std::uint32_t a = 0; a < system.host(i).adapters(); ++a) {
      for (const driver::DevicePort& port : system.host(i).adapter(a).driver().capabilities().ports) {
        all.push_back(port.lid.value());
      }
    }
  }
  return all;
}

TEST(SystemPorts, LidsCountThePortsOfAllAdapters) {
  System system(hostsWith(2, 2, 3));
  ASSERT_EQ(system.bringUp(), "");
  EXPECT_EQ(lids(system), (std::vector<std::uint16_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST(SystemPorts, WhereHostsDifferTheLargestCounts) {
  config::Config config = hostsWith(1, 1);
  config.hosts[0].adapter.device.ports = 2;
  System system(config);
  ASSERT_EQ(system.bringUp(), "");
  EXPECT_EQ(lids(system), (std::vector<std::uint16_t>{1, 2, 3}));
}

TEST(SystemPorts, TheDriverKnowsWhoItsDeviceIs) {
  System system(hostsWith(2, 2));
  ASSERT_EQ(system.bringUp(), "");
  const driver::DeviceCapabilities& first = system.host(1).adapter(0).driver().capabilities();
  const driver::DeviceCapabilities& second = system.host(1).adapter(1).driver().capabilities();
  ASSERT_EQ(first.ports.size(), 2u);
  EXPECT_EQ(first.nodeGuid, first.port(1).guid);
  EXPECT_NE(first.nodeGuid, second.nodeGuid);
  EXPECT_NE(first.port(1).guid, first.port(2).guid);
  const network::FabricIdentity fabric(2, 4);
  for (std::uint8_t port = 1; port <= 2; ++port) {
    const network::PortIdentity wanted = fabric.port(HostIndex(1), 2U + port);
    EXPECT_EQ(second.port(port).lid, wanted.lid);
    EXPECT_EQ(second.port(port).guid, wanted.guid);
    EXPECT_EQ(second.port(port).gid(), wanted.gid);
    EXPECT_TRUE(second.port(port).active);
  }
}

TEST(SystemPorts, WithRoceEachPortHasItsTable) {
  config::Config config = hostsWith(1, 2);
  config.link.layer = network::LinkLayer::kRoceV2;
  System system(config);
  ASSERT_EQ(system.bringUp(), "");
  const driver::DeviceCapabilities& device = system.host(0).adapter().driver().capabilities();
  const network::PortIdentity wanted = network::FabricIdentity(2, 2).port(HostIndex(0), 2);
  ASSERT_EQ(device.port(2).gids.size(), 2u);
  EXPECT_EQ(device.port(2).gids[0], wanted.gid);
  EXPECT_EQ(device.port(2).gid(), wanted.ipv4Gid);
}

TEST(SystemPorts, APortWithoutCounterpartIsDown) {
  config::Config config = hostsWith(1, 1);
  config.hosts[0].adapter.device.ports = 2;
  System system(config);
  ASSERT_EQ(system.bringUp(), "");
  const driver::DeviceCapabilities& device = system.host(0).adapter().driver().capabilities();
  EXPECT_TRUE(device.port(1).active);
  EXPECT_FALSE(device.port(2).active);
}

TEST(SystemPorts, NamesOfSeveralAdaptersAreNumbered) {
  System system(hostsWith(2, 1));
  EXPECT_NE(sc_core::sc_find_object("host.1.adapter.0.pcie"), nullptr);
  EXPECT_NE(sc_core::sc_find_object("host.1.adapter.1.root_complex"), nullptr);
  EXPECT_EQ(sc_core::sc_find_object("host.1.pcie"), nullptr);
}

struct PortChange {
  std::uint32_t adapter;
  std::uint8_t subType;
  std::uint32_t port;
  bool operator==(const PortChange& other) const {
    return adapter == other.adapter && subType == other.subType && port == other.port;
  }
};

TEST(SystemPorts, ALinkThatChangesIsAnEventOfItsPort) {
  System system(hostsWith(2, 2));
  ASSERT_EQ(system.bringUp(), "");
  std::vector<PortChange> changes;
  system.probes().async.attach([&](const observe::AsyncEvent& event) {
    constexpr std::uint8_t kPortChange = 9;
    if (event.host == HostIndex(0) && event.type == kPortChange) {
      changes.push_back({event.adapter.value(), event.subType, event.object});
    }
  });
  network::Link& link = system.cabling().plug(0, 4).link;
  const auto& ports = system.host(0).adapter(1).driver().capabilities().ports;
  link.setUp(false);
  system.run(system.calendar().now() + milliseconds(1));
  EXPECT_FALSE(ports[1].active);
  EXPECT_TRUE(ports[0].active);
  link.setUp(true);
  system.run(system.calendar().now() + milliseconds(1));
  EXPECT_TRUE(ports[1].active);
  EXPECT_EQ(changes, (std::vector<PortChange>{{1, 1, 2}, {1, 4, 2}}));
}

}  // namespace
}  // namespace hca::sim

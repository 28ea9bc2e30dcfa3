#include "models/network/fabric_identity.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "models/network/network_config.h"

namespace hca::network {
namespace {

TEST(FabricIdentityLmc, PortsHaveSeveralLidsEach) {
  const FabricIdentity fabric(2, 2, 3);
  EXPECT_EQ(fabric.port(HostIndex(0), 1).lid, Lid(8));
  EXPECT_EQ(fabric.port(HostIndex(1), 2).lid, Lid(32));
  EXPECT_FALSE(fabric.contains(Lid(7)));
  EXPECT_TRUE(fabric.contains(Lid(8)));
  EXPECT_TRUE(fabric.contains(Lid(39)));
  EXPECT_FALSE(fabric.contains(Lid(40)));
  EXPECT_TRUE(fabric.port(HostIndex(0), 1).answersTo(Lid(15)));
  EXPECT_FALSE(fabric.port(HostIndex(0), 1).answersTo(Lid(16)));
}

TEST(FabricIdentityLmc, EveryPortNeedsAllItsLids) {
  EXPECT_NO_THROW(FabricIdentity(0x17F, 1, 7));
  EXPECT_THROW(FabricIdentity(0x180, 1, 7), std::invalid_argument) << "48 Ki LIDs are 384 times 128";
}

TEST(FabricIdentity, NumbersPortsHostByHost) {
  const FabricIdentity fabric(3, 2);
  EXPECT_EQ(fabric.port(HostIndex(0), 1).lid, Lid(1));
  EXPECT_EQ(fabric.port(HostIndex(0), 2).lid, Lid(2));
  EXPECT_EQ(fabric.port(HostIndex(2), 1).lid, Lid(5));
  EXPECT_FALSE(fabric.contains(Lid(0)));
  EXPECT_TRUE(fabric.contains(Lid(1)));
  EXPECT_TRUE(fabric.contains(Lid(6)));
  EXPECT_FALSE(fabric.contains(Lid(7)));
}

TEST(FabricIdentity, EveryNameIsUnique) {
  const FabricIdentity fabric(300, 2);
  std::set<std::uint64_t> guids;
  std::set<Gid> gids;
  std::set<std::array<std::uint8_t, 6>> macs;
  for (std::uint32_t host = 0; host < 300; ++host) {
    guids.insert(fabric.nodeGuid(HostIndex(host)));
    for (std::uint32_t port = 1; port <= 2; ++port) {
      const PortIdentity identity = fabric.port(HostIndex(host), port);
      guids.insert(identity.guid);
      gids.insert(identity.gid);
      gids.insert(identity.ipv4Gid);
      macs.insert(identity.mac);
    }
  }
  EXPECT_EQ(guids.size(), 900u);
  EXPECT_EQ(gids.size(), 1200u);
  EXPECT_EQ(macs.size(), 600u);
}

TEST(FabricIdentity, GidsFollowFromTheMacAddress) {
  const PortIdentity port = FabricIdentity(600, 1).port(HostIndex(0x0102), 1);
  EXPECT_EQ(port.mac, (std::array<std::uint8_t, 6>{0x02, 0, 0, 0x01, 0x02, 0x01}));
  EXPECT_EQ(port.guid, 0x0000'00FF'FE01'0201u);
  EXPECT_EQ(port.gid, (Gid{0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFE, 0x01, 0x02, 0x01}));
  EXPECT_EQ(port.ipv4Gid, (Gid{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0x01, 0x02, 0x01}));
}

TEST(FabricIdentity, MacAddressFollowsFromTheGids) {
  const PortIdentity port = FabricIdentity(600, 1).port(HostIndex(0x0102), 1);
  EXPECT_EQ(macOf(port.gid), port.mac);
  EXPECT_EQ(macOf(port.ipv4Gid), port.mac);
  using Mac = std::array<std::uint8_t, 6>;
  Gid group{0xFF, 0x12};
  group[15] = 0x34;
  group[12] = 0xC0;
  EXPECT_EQ(macOf(group), (Mac{0x33, 0x33, 0xC0, 0, 0, 0x34}));
  EXPECT_EQ(macOf({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xE0, 0x81, 2, 3}), (Mac{0x01, 0x00, 0x5E, 0x01, 2, 3}));
  EXPECT_EQ(macOf(Gid{}), Mac{});
}

TEST(FabricIdentity, RefusesMorePortsThanLocalIdentifiers) {
  EXPECT_NO_THROW(FabricIdentity(0xBFFF, 1));
  EXPECT_THROW(FabricIdentity(0xC000, 1), std::invalid_argument);
  EXPECT_THROW(FabricIdentity(0x6000, 2), std::invalid_argument);
  EXPECT_THROW(FabricIdentity(2, 0), std::invalid_argument);
  EXPECT_THROW(FabricIdentity(2, 256), std::invalid_argument);
}

TEST(NetworkConfig, KnowsTheMtusOfTheArchitecture) {
  for (const int mtu : {256, 512, 1024, 2048, 4096}) EXPECT_TRUE(isMtu(Bytes(mtu)));
  for (const int mtu : {0, 128, 255, 257, 1500, 4095, 4097, 8192}) EXPECT_FALSE(isMtu(Bytes(mtu)));
}

}  // namespace
}  // namespace hca::network

#include "models/network/switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "models/network/link.h"
#include "tests/models/network/recording_port.h"

namespace hca::network {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t kHosts = 4;

// A star of four hosts.
class SwitchTest : public testing::Test, public kernel::CalendarClient {
 protected:
  // RC SEND only, 26 bytes of headers, 80 ps a byte.
  static constexpr std::int64_t kSize = 26 + 1000;
  static constexpr Time kSerialisation = picoseconds(80 * kSize);
  static constexpr Time kPropagation = nanoseconds(10);
  static constexpr Time kReceive = nanoseconds(50);
  static constexpr Time kCrossing = nanoseconds(269);
  // Sent at 0 through an idle switch.
  static constexpr Time kFirst = kPropagation + kCrossing + kSerialisation + kPropagation + kReceive;

  SwitchTest() { build({}); }
  void build(const SwitchConfig& config) {
    links.clear();
    ports.clear();
    fabricSwitch = std::make_unique<Switch>(calendar, probes, config, kHosts, HostIndex(kHosts));
    for (std::uint32_t i = 0; i < kHosts; ++i) {
      ports.push_back(std::make_unique<RecordingPort>(calendar));
      links.push_back(std::make_unique<Link>(calendar, probes, NetworkConfig{}));
      const PortIdentity identity = fabric.port(HostIndex(i), 1);
      links[i]->attach(0, {identity, AdapterIndex(0), ports[i].get()});
      LinkEnd end;
      end.identity.host = fabricSwitch->self();
      end.receiver = &fabricSwitch->receiver(i);
      end.forwards = true;
      links[i]->attach(1, end);
      fabricSwitch->connect(i, identity, links[i]->sender(1));
    }
  }
  void send(std::uint32_t from, std::uint32_t to, std::uint32_t psn) {
    Packet packet;
    packet.route.destinationLid = Lid(static_cast<std::uint16_t>(to + 1));
    packet.psn = psn;
    packet.payloadLength = kSize - 26;
    links[from]->sender(0).transmit(std::move(packet));
  }
  void at(Time when, std::function<void()> action) {
    calendar.schedule(when, kernel::Priority::kAdapter, *this, actions.size());
    actions.push_back(std::move(action));
  }
  void onCalendar(std::uint64_t token) override { actions[token](); }
  void run() { calendar.runUntil(milliseconds(1)); }

  kernel::Calendar calendar;
  observe::Probes probes;
  FabricIdentity fabric{kHosts, 1};
  std::vector<std::unique_ptr<RecordingPort>> ports;
  std::unique_ptr<Switch> fabricSwitch;
  std::vector<std::unique_ptr<Link>> links;
  std::vector<std::function<void()>> actions;
};

TEST_F(SwitchTest, APacketLeavesWhileItStillArrivesAndNotBefore) {
  send(0, 2, 7);
  calendar.runUntil(kFirst - picoseconds(1));
  EXPECT_THAT(ports[2]->arrived, IsEmpty());
  calendar.runUntil(kFirst);
  EXPECT_THAT(ports[2]->arrived, ElementsAre(std::pair(7u, kFirst)));
  EXPECT_THAT(ports[0]->arrived, IsEmpty());
  EXPECT_THAT(ports[1]->arrived, IsEmpty());
  EXPECT_EQ(fabricSwitch->counters(2).forwarded, 1u);
  EXPECT_EQ(fabricSwitch->counters(2).highWater, Bytes(0));
}

// A packet from a slow link leaves so late that its end is there in time.
TEST_F(SwitchTest, WhatComesInSlowlyDoesNotRunDry) {
  NetworkConfig slow;
  slow.rate = BitsPerSecond(NetworkConfig().rate.count() / 4);
  Link link(calendar, probes, slow);
  LinkEnd end;
  end.identity.host = fabricSwitch->self();
  end.receiver = &fabricSwitch->receiver(0);
  end.forwards = true;
  link.attach(0, {fabric.port(HostIndex(0), 1), AdapterIndex(0), ports[0].get()});
  link.attach(1, end);
  fabricSwitch->connect(0, fabric.port(HostIndex(0), 1), link.sender(1), slow.rate);
  fabricSwitch->connect(2, fabric.port(HostIndex(2), 1), links[2]->sender(1), NetworkConfig().rate);
  Packet packet;
  packet.route.destinationLid = Lid(3);
  packet.psn = 7;
  packet.payloadLength = kSize - 26;
  link.sender(0).transmit(std::move(packet));
  run();
  const Bytes size(kSize);
  const Time longer = transferTime(size, slow.rate) - transferTime(size, NetworkConfig().rate);
  EXPECT_THAT(ports[2]->arrived, ElementsAre(std::pair(7u, kFirst + longer)));
}

TEST_F(SwitchTest, MulticastGoesToEveryPortButItsOwn) {
  for (const std::uint32_t lid : {0xC000U, 0xFFFEU}) {
    build({});
    send(1, lid - 1, 7);
    calendar.runUntil(calendar.now() + milliseconds(1));
    for (std::uint32_t port = 0; port < kHosts; ++port) {
      EXPECT_EQ(ports[port]->arrived.size(), port == 1 ? 0U : 1U) << port;
      EXPECT_EQ(fabricSwitch->counters(port).droppedDestination, 0U);
    }
  }
  send(1, 0xFFFF - 1, 8);
  calendar.runUntil(calendar.now() + milliseconds(1));
  EXPECT_EQ(fabricSwitch->counters(1).droppedDestination, 1U) << "the permissive LID is none";
}

TEST_F(SwitchTest, TheLatencyIsTheConfigured) {
  SwitchConfig config;
  config.latency = Time();
  build(config);
  send(0, 2, 7);
  run();
  EXPECT_THAT(ports[2]->arrived, ElementsAre(std::pair(7u, kFirst - kCrossing)));
}

TEST_F(SwitchTest, TwoForOnePortGoOneAfterTheOtherInTheOrderOfArrival) {
  at(picoseconds(1), [&] { send(0, 2, 2); });
  at(Time(), [&] { send(1, 2, 1); });
  run();
  EXPECT_THAT(ports[2]->arrived, ElementsAre(std::pair(1u, kFirst), std::pair(2u, kFirst + kSerialisation)));
  EXPECT_EQ(fabricSwitch->counters(2).highWater, Bytes(kSize));
}

// The first to arrive goes first, although the other's sender had queued before.
TEST_F(SwitchTest, OrderIsThatOfArrivalNotOfSending) {
  send(0, 3, 1);
  send(0, 2, 2);  // its first bit arrives one serialisation later
  at(kSerialisation - picoseconds(1), [&] { send(1, 2, 3); });
  run();
  EXPECT_THAT(ports[2]->arrived, ElementsAre(std::pair(3u, kFirst + kSerialisation - picoseconds(1)),
                                             std::pair(2u, kFirst + 2 * kSerialisation - picoseconds(1))));
}

TEST_F(SwitchTest, PacketsOfOneSenderKeepTheirOrderBackToBack) {
  for (std::uint32_t psn = 0; psn < 20; ++psn) send(0, 1, psn);
  run();
  ASSERT_EQ(ports[1]->arrived.size(), 20u);
  for (std::uint32_t psn = 0; psn < 20; ++psn) {
    EXPECT_EQ(ports[1]->arrived[psn], std::pair(psn, kFirst + kSerialisation * psn));
  }
  EXPECT_EQ(fabricSwitch->counters(1).highWater, Bytes(0)) << "the output is as fast as the input";
}

TEST_F(SwitchTest, PortsDontWaitForEachOther) {
  send(0, 1, 1);
  send(1, 0, 2);
  send(2, 3, 3);
  send(3, 2, 4);
  run();
  for (const std::uint32_t host : {0U, 1U, 2U, 3U}) EXPECT_EQ(ports[host]->arrived.size(), 1u);
  for (const std::uint32_t host : {0U, 1U, 2U, 3U}) EXPECT_EQ(ports[host]->arrived[0].second, kFirst);
}

TEST_F(SwitchTest, AFullOutputQueueDropsAndCounts) {
  SwitchConfig config;
  config.buffer = Bytes(2 * kSize);
  build(config);
  std::vector<HostIndex> droppedAt;
  probes.packet.attach([&](const observe::PacketEvent& event) {
    if (event.action == observe::PacketEvent::Action::kDropped) droppedAt.push_back(event.host);
  });
  // At one time: one leaves, two wait.
  for (const std::uint32_t from : {0U, 1U, 3U}) send(from, 2, from);
  at(picoseconds(1), [&] { send(2, 2, 9); });
  run();
  EXPECT_THAT(ports[2]->arrived, ElementsAre(std::pair(0u, kFirst), std::pair(1u, kFirst + kSerialisation),
                                             std::pair(3u, kFirst + 2 * kSerialisation)));
  EXPECT_EQ(fabricSwitch->counters(2).droppedBuffer, 1u);
  EXPECT_EQ(fabricSwitch->counters(2).forwarded, 3u);
  EXPECT_EQ(fabricSwitch->counters(2).highWater, Bytes(2 * kSize));
  EXPECT_THAT(droppedAt, ElementsAre(HostIndex(kHosts)));
}

TEST_F(SwitchTest, ABufferOneByteShortHoldsOnePacketLess) {
  SwitchConfig config;
  config.buffer = Bytes(2 * kSize - 1);
  build(config);
  for (const std::uint32_t from : {0U, 1U, 3U}) send(from, 2, from);
  run();
  EXPECT_THAT(ports[2]->arrived, ElementsAre(std::pair(0u, kFirst), std::pair(1u, kFirst + kSerialisation)));
  EXPECT_EQ(fabricSwitch->counters(2).droppedBuffer, 1u);
}

TEST_F(SwitchTest, RoomIsFreeAgainWhenAPacketLeaves) {
  SwitchConfig config;
  config.buffer = Bytes(kSize);
  build(config);
  send(0, 2, 0);
  send(1, 2, 1);
  at(kSerialisation - picoseconds(1), [&] { send(3, 2, 3); });  // packet 1 still waits
  at(kSerialisation + picoseconds(1), [&] { send(0, 2, 4); });
  run();
  EXPECT_THAT(ports[2]->arrived, ElementsAre(std::pair(0u, kFirst), std::pair(1u, kFirst + kSerialisation),
                                             std::pair(4u, kFirst + 2 * kSerialisation)));
  EXPECT_EQ(fabricSwitch->counters(2).droppedBuffer, 1u);
}

TEST_F(SwitchTest, WithoutABufferOnlyAnIdlePortTakesAPacket) {
  SwitchConfig config;
  config.buffer = Bytes(0);
  build(config);
  send(0, 2, 0);
  send(1, 2, 1);
  send(0, 2, 2);  // the port is free again exactly now
  run();
  EXPECT_THAT(ports[2]->arrived, ElementsAre(std::pair(0u, kFirst), std::pair(2u, kFirst + kSerialisation)));
  EXPECT_EQ(fabricSwitch->counters(2).droppedBuffer, 1u);
}

TEST_F(SwitchTest, AnUnknownDestinationIsDroppedAndCountedWhereItCameIn) {
  send(1, kHosts, 1);  // one beyond the last LID
  send(1, 0xFFFF - 1, 2);
  Packet nobody;
  nobody.route.destinationLid = Lid(0);
  links[1]->sender(0).transmit(std::move(nobody));
  run();
  for (const auto& port : ports) EXPECT_THAT(port->arrived, IsEmpty());
  EXPECT_EQ(fabricSwitch->counters(1).droppedDestination, 3u);
  EXPECT_EQ(fabricSwitch->counters(0).droppedDestination, 0u);
}

TEST_F(SwitchTest, ARawPacketForNobodyGoesToEverybodyElse) {
  Packet stray;
  stray.service = Service::kRaw;
  stray.route.linkLayer = LinkLayer::kRoceV2;
  stray.route.destinationGid = {0xFE, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
  links[1]->sender(0).transmit(std::move(stray));
  run();
  for (std::uint32_t port = 0; port < kHosts; ++port) EXPECT_EQ(ports[port]->arrived.size(), port == 1 ? 0U : 1U);
  EXPECT_EQ(fabricSwitch->counters(1).droppedDestination, 0u);
}

TEST_F(SwitchTest, WithRoceTheGidDecides) {
  Gid unknown{};
  for (const Gid& gid : {fabric.port(HostIndex(3), 1).gid, fabric.port(HostIndex(3), 1).ipv4Gid,
                         fabric.port(HostIndex(0), 1).gid, unknown}) {
    Packet packet;
    packet.route.linkLayer = LinkLayer::kRoceV2;
    packet.route.destinationLid = Lid(2);
    packet.route.destinationGid = gid;
    links[2]->sender(0).transmit(std::move(packet));
  }
  run();
  EXPECT_EQ(ports[3]->arrived.size(), 2u);
  EXPECT_EQ(ports[0]->arrived.size(), 1u);
  EXPECT_EQ(ports[1]->arrived.size(), 0u);
  EXPECT_EQ(fabricSwitch->counters(2).droppedDestination, 1u);
}

TEST_F(SwitchTest, ACorruptedPacketIsFoundOutByItsReceiver) {
  FaultConfig faults;
  faults.corrupt = "1";
  links[0]->setFaults(0, FaultInjector(faults, 1, 0));
  send(0, 1, 1);
  run();
  ASSERT_EQ(ports[1]->taken.size(), 1u);
  EXPECT_TRUE(ports[1]->taken[0].corrupted);
}

}  // namespace
}  // namespace hca::network

// What injected faults do to packets on a link.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "models/network/link.h"
#include "tests/models/network/recording_port.h"

namespace hca::network {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LinkFaultsTest : public testing::Test {
 protected:
  LinkFaultsTest() {
    link.attach(0, {fabric.port(HostIndex(0), 1), AdapterIndex(0), &ports[0]});
    link.attach(1, {fabric.port(HostIndex(1), 1), AdapterIndex(0), &ports[1]});
  }
  void inject(const FaultConfig& faults) { link.setFaults(0, FaultInjector(faults, 1, 0)); }
  void send(std::uint32_t psn, std::size_t from = 0) {
    Packet packet;
    packet.route.destinationLid = fabric.port(HostIndex(1 - static_cast<std::uint32_t>(from)), 1).lid;
    packet.psn = psn;
    packet.payloadLength = 4;
    packet.payload = pool.copyOf(std::vector<std::uint8_t>{1, 2, 3, static_cast<std::uint8_t>(psn)});
    link.sender(from).transmit(std::move(packet));
  }
  void send3() {
    for (std::uint32_t psn = 1; psn <= 3; ++psn) send(psn);
    calendar.runUntil(milliseconds(2000));
  }
  // Without a fault: 30 bytes of 80 ps each, one after the other, and 60 ns on the way.
  static constexpr Time due(std::uint32_t psn) { return picoseconds(2400 * psn) + nanoseconds(60); }

  kernel::PayloadPool pool;
  kernel::Calendar calendar;
  observe::Probes probes;
  FabricIdentity fabric{2, 1};
  RecordingPort ports[2]{RecordingPort(calendar), RecordingPort(calendar)};
  Link link{calendar, probes, NetworkConfig{}};
};

TEST_F(LinkFaultsTest, ALostPacketTakesItsTimeOnTheWireAndIsCounted) {
  FaultConfig faults;
  faults.lose = "2";
  inject(faults);
  std::vector<observe::PacketEvent::Action> last;
  probes.packet.attach([&](const observe::PacketEvent& event) {
    if (event.packet->psn == 2) last.push_back(event.action);
  });
  send3();
  EXPECT_THAT(ports[1].arrived, ElementsAre(std::pair(1u, due(1)), std::pair(3u, due(3))));
  EXPECT_EQ(link.counters(0).lost, 1u);
  EXPECT_EQ(link.counters(0).packets, 3u);
  EXPECT_EQ(link.counters(0).droppedDown + link.counters(0).droppedDestination, 0u);
  EXPECT_THAT(last, ElementsAre(observe::PacketEvent::Action::kSent, observe::PacketEvent::Action::kDropped));
}

TEST_F(LinkFaultsTest, TheOtherDirectionIsItsOwn) {
  FaultConfig faults;
  faults.loss = 1;
  inject(faults);
  send(1, 0);
  send(2, 1);
  calendar.runUntil(milliseconds(1));
  EXPECT_THAT(ports[1].arrived, IsEmpty());
  EXPECT_EQ(ports[0].arrived.size(), 1u);
  EXPECT_EQ(link.counters(1).lost, 0u);
}

TEST_F(LinkFaultsTest, ACorruptedPacketArrivesInTimeAndMarked) {
  FaultConfig faults;
  faults.corrupt = "2";
  inject(faults);
  send3();
  ASSERT_EQ(ports[1].taken.size(), 3u);
  EXPECT_FALSE(ports[1].taken[0].corrupted);
  EXPECT_TRUE(ports[1].taken[1].corrupted);
  EXPECT_FALSE(ports[1].taken[2].corrupted);
  EXPECT_EQ(ports[1].arrived[1].second, due(2));
  EXPECT_EQ(link.counters(0).corrupted, 1u);
}

TEST_F(LinkFaultsTest, ADuplicateIsTheWholePacketAgain) {
  FaultConfig faults;
  faults.duplicate = "2";
  faults.delayTime = nanoseconds(100);
  inject(faults);
  send3();
  EXPECT_THAT(ports[1].arrived, ElementsAre(std::pair(1u, due(1)), std::pair(2u, due(2)), std::pair(3u, due(3)),
                                            std::pair(2u, due(2) + nanoseconds(100))));
  const Packet& first = ports[1].taken[1];
  const Packet& second = ports[1].taken[3];
  EXPECT_EQ(second.route.destinationLid, first.route.destinationLid);
  EXPECT_EQ(second.payloadLength, 4u);
  for (const Packet* copy : {&first, &second}) {
    const ByteView bytes = copy->payload.view();
    EXPECT_EQ(std::vector<std::uint8_t>(bytes.begin(), bytes.end()), std::vector<std::uint8_t>({1, 2, 3, 2}));
  }
  EXPECT_EQ(link.counters(0).duplicated, 1u);
  EXPECT_EQ(link.counters(0).packets, 3u) << "one was sent";
}

TEST_F(LinkFaultsTest, AHeldPacketIsOvertaken) {
  FaultConfig faults;
  faults.hold = "1";
  faults.delayTime = nanoseconds(3);
  inject(faults);
  send3();
  EXPECT_THAT(ports[1].arrived,
              ElementsAre(std::pair(2u, due(2)), std::pair(1u, due(1) + nanoseconds(3)), std::pair(3u, due(3))));
  EXPECT_EQ(link.counters(0).held, 1u);
}

TEST_F(LinkFaultsTest, ADistortedPacketArrivesInTimeWithAReservedCode) {
  FaultConfig faults;
  faults.distort = "2";
  inject(faults);
  std::vector<unsigned> syndromes;
  probes.packet.attach([&](const observe::PacketEvent& event) {
    if (event.action == observe::PacketEvent::Action::kReceived) syndromes.push_back(event.packet->syndrome);
  });
  send3();
  EXPECT_THAT(ports[1].arrived, ElementsAre(std::pair(1u, due(1)), std::pair(2u, due(2)), std::pair(3u, due(3))));
  EXPECT_THAT(syndromes, ElementsAre(0u, 0x7Fu, 0u));
}

TEST_F(LinkFaultsTest, WhatIsLostIsNothingElse) {
  FaultConfig faults;
  faults.lose = faults.corrupt = faults.duplicate = faults.hold = "1-3";
  inject(faults);
  send3();
  EXPECT_THAT(ports[1].arrived, IsEmpty());
  EXPECT_EQ(link.counters(0).lost, 3u);
  EXPECT_EQ(link.counters(0).corrupted + link.counters(0).duplicated + link.counters(0).held, 0u);
}

TEST_F(LinkFaultsTest, ALinkThatIsDownLosesFirst) {
  FaultConfig faults;
  faults.loss = 1;
  inject(faults);
  link.setUp(false);
  send3();
  EXPECT_EQ(link.counters(0).droppedDown, 3u);
  EXPECT_EQ(link.counters(0).lost, 0u);
}

}  // namespace
}  // namespace hca::network

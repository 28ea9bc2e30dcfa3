#include "models/network/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "tests/models/network/recording_port.h"

namespace hca::network {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LinkTest : public testing::Test, public kernel::CalendarClient {
 protected:
  LinkTest() {
    link.attach(0, {fabric.port(HostIndex(0), 1), AdapterIndex(0), &ports[0]});
    link.attach(1, {fabric.port(HostIndex(1), 1), AdapterIndex(0), &ports[1]});
  }
  static NetworkConfig config() {
    NetworkConfig c;
    c.rate = BitsPerSecond(100'000'000'000);  // 80 ps a byte
    c.propagation = nanoseconds(10);
    c.receiveLatency = nanoseconds(50);
    return c;
  }
  // RC SEND only: 8 LRH + 12 BTH + payload + 4 ICRC + 2 VCRC.
  static constexpr std::uint32_t kHeaders = 26;
  static constexpr Time serialisation(std::uint32_t payload) { return picoseconds(80 * (kHeaders + payload)); }

  Packet packet(std::uint32_t psn, std::uint32_t payload, std::size_t to = 1) {
    Packet p;
    p.route.destinationLid = fabric.port(HostIndex(static_cast<std::uint32_t>(to)), 1).lid;
    p.operation = Operation::kSendOnly;
    p.psn = psn;
    p.payloadLength = payload;
    return p;
  }
  void at(Time when, std::function<void()> action) {
    calendar.schedule(when, kernel::Priority::kAdapter, *this, actions.size());
    actions.push_back(std::move(action));
  }
  void onCalendar(std::uint64_t token) override { actions[token](); }
  void run() { calendar.runUntil(milliseconds(1)); }

  static constexpr Time kFlight = nanoseconds(60);  // propagation and receive latency
  kernel::Calendar calendar;
  observe::Probes probes;
  FabricIdentity fabric{2, 1};
  RecordingPort ports[2]{RecordingPort(calendar), RecordingPort(calendar)};
  Link link{calendar, probes, config()};
  std::vector<std::function<void()>> actions;
};

TEST_F(LinkTest, APacketArrivesWhenItsLastBitDidAndNotBefore) {
  const Time sent = link.sender(0).transmit(packet(7, 64));
  EXPECT_EQ(sent, picoseconds(7200));
  calendar.runUntil(sent + kFlight - picoseconds(1));
  EXPECT_THAT(ports[1].arrived, IsEmpty());
  calendar.runUntil(sent + kFlight);
  EXPECT_THAT(ports[1].arrived, ElementsAre(std::pair(7u, picoseconds(67'200))));
  EXPECT_THAT(ports[0].arrived, IsEmpty());
}

TEST_F(LinkTest, EachPacketIsAnnouncedWhenItIsTheNextToArrive) {
  for (std::uint32_t psn = 1; psn <= 3; ++psn) link.sender(0).transmit(packet(psn, 64));
  run();
  ASSERT_EQ(ports[1].arrived.size(), 3U);
  EXPECT_THAT(ports[1].announced, ElementsAre(std::pair(1u, Time()), std::pair(2u, ports[1].arrived[0].second),
                                              std::pair(3u, ports[1].arrived[1].second)));
}

TEST_F(LinkTest, MulticastIsForWhoeverIsThere) {
  Packet group = packet(7, 64);
  group.route.destinationLid = Lid(0xC123);
  link.sender(0).transmit(std::move(group));
  Packet roce = packet(8, 64);
  roce.route.linkLayer = LinkLayer::kRoceV2;
  roce.route.destinationGid = {0xFF, 0x12};
  link.sender(0).transmit(std::move(roce));
  run();
  EXPECT_EQ(ports[1].arrived.size(), 2U);
  EXPECT_EQ(link.counters(0).droppedDestination, 0U);
}

TEST_F(LinkTest, PacketsFollowEachOtherWithoutAGapOrOverlap) {
  PacketSender& sender = link.sender(0);
  sender.transmit(packet(1, 4096));
  EXPECT_EQ(sender.freeAt(), serialisation(4096));
  sender.transmit(packet(2, 64));
  run();
  EXPECT_THAT(ports[1].arrived, ElementsAre(std::pair(1u, serialisation(4096) + kFlight),
                                            std::pair(2u, serialisation(4096) + serialisation(64) + kFlight)));
  EXPECT_EQ(sender.freeAt(), calendar.now()) << "an idle link is free now";
}

TEST_F(LinkTest, TwoSendersOfAPortShareItInTheOrderOfTime) {
  at(nanoseconds(2), [&] { link.sender(0).transmit(packet(2, 64)); });
  at(nanoseconds(1), [&] { link.sender(0).transmit(packet(1, 64)); });
  at(nanoseconds(100), [&] { link.sender(0).transmit(packet(3, 64)); });
  run();
  const Time first = nanoseconds(1) + serialisation(64);
  EXPECT_THAT(ports[1].arrived,
              ElementsAre(std::pair(1u, first + kFlight), std::pair(2u, first + serialisation(64) + kFlight),
                          std::pair(3u, nanoseconds(100) + serialisation(64) + kFlight)));
}

TEST_F(LinkTest, DirectionsDontShareBandwidth) {
  link.sender(0).transmit(packet(1, 4096, 1));
  link.sender(1).transmit(packet(2, 4096, 0));
  run();
  EXPECT_THAT(ports[1].arrived, ElementsAre(std::pair(1u, serialisation(4096) + kFlight)));
  EXPECT_THAT(ports[0].arrived, ElementsAre(std::pair(2u, serialisation(4096) + kFlight)));
}

TEST_F(LinkTest, MovesThePayload) {
  kernel::PayloadPool pool;
  const std::vector<std::uint8_t> bytes{1, 2, 3, 4};
  Packet p = packet(1, 4);
  p.payload = pool.copyOf(bytes);
  link.sender(0).transmit(std::move(p));
  run();
  ASSERT_EQ(ports[1].taken.size(), 1u);
  const ByteView got = ports[1].taken[0].payload.view();
  EXPECT_EQ(std::vector<std::uint8_t>(got.begin(), got.end()), bytes);
  ports[1].taken.clear();  // before the pool
}

TEST_F(LinkTest, CountsWhatItCarries) {
  link.sender(0).transmit(packet(1, 64));
  link.sender(0).transmit(packet(2, 64));
  EXPECT_EQ(link.counters(0).packets, 2u);
  EXPECT_EQ(link.counters(0).bytes, Bytes(2 * 90));
  EXPECT_EQ(link.counters(0).busy, 2 * serialisation(64));
  EXPECT_EQ(link.counters(1).packets, 0u);
}

TEST_F(LinkTest, DropsAndCountsWhatIsAddressedToNobody) {
  std::vector<observe::PacketEvent::Action> actionsSeen;
  probes.packet.attach([&](const observe::PacketEvent& event) { actionsSeen.push_back(event.action); });
  Packet stray = packet(1, 64);
  stray.route.destinationLid = Lid(77);
  link.sender(0).transmit(std::move(stray));
  run();
  EXPECT_THAT(ports[1].arrived, IsEmpty());
  EXPECT_EQ(link.counters(0).droppedDestination, 1u);
  EXPECT_EQ(link.counters(0).droppedDown, 0u);
  EXPECT_THAT(actionsSeen, ElementsAre(observe::PacketEvent::Action::kSent, observe::PacketEvent::Action::kDropped));
}

TEST_F(LinkTest, WithRoceTheGidDecides) {
  for (const Gid& gid :
       {fabric.port(HostIndex(1), 1).gid, fabric.port(HostIndex(1), 1).ipv4Gid, fabric.port(HostIndex(0), 1).gid}) {
    Packet p = packet(1, 64);
    p.route.linkLayer = LinkLayer::kRoceV2;
    p.route.destinationLid = Lid(0);
    p.route.destinationGid = gid;
    link.sender(0).transmit(std::move(p));
  }
  run();
  EXPECT_EQ(ports[1].arrived.size(), 2u);
  EXPECT_EQ(link.counters(0).droppedDestination, 1u);
}

TEST_F(LinkTest, PortsTakeRawPacketsForAnyAddress) {
  Packet p = packet(1, 64);
  p.service = Service::kRaw;
  p.route.linkLayer = LinkLayer::kRoceV2;
  p.route.destinationGid = {0xFE, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
  link.sender(0).transmit(std::move(p));
  run();
  EXPECT_EQ(ports[1].arrived.size(), 1u);
  EXPECT_EQ(link.counters(0).droppedDestination, 0u);
}

TEST_F(LinkTest, ALinkThatIsDownLosesWhatIsSent) {
  link.setUp(false);
  EXPECT_FALSE(link.isUp());
  link.sender(0).transmit(packet(1, 64));
  run();
  link.sender(0).transmit(packet(2, 64));
  link.setUp(true);  // too late for the packet under way
  calendar.runUntil(milliseconds(2));
  EXPECT_THAT(ports[1].arrived, IsEmpty());
  EXPECT_EQ(link.counters(0).droppedDown, 2u);
  link.sender(0).transmit(packet(3, 64));
  calendar.runUntil(milliseconds(3));
  EXPECT_EQ(ports[1].arrived.size(), 1u);
}

TEST_F(LinkTest, AReceiverWithoutRoomHoldsTheSenderBack) {
  struct Full final : PacketReceiver {
    void onPacket(Packet&) override { ++packets; }
    [[nodiscard]] Time hasRoomAt(Time earliest, Bytes onTheWay) const override {
      asked.push_back(onTheWay);
      return later(earliest, nanoseconds(500));
    }
    mutable std::vector<Bytes> asked;
    int packets = 0;
  };
  Full full;
  link.attach(1, {fabric.port(HostIndex(1), 1), AdapterIndex(0), &full});
  EXPECT_EQ(link.sender(0).freeAt(), nanoseconds(500));
  full.asked.clear();
  EXPECT_EQ(link.sender(0).transmit(packet(1, 64)), nanoseconds(500) + serialisation(64));
  EXPECT_EQ(link.sender(0).transmit(packet(2, 64)), nanoseconds(500) + 2 * serialisation(64));
  const Bytes size(wireBytes(packet(1, 64)));
  EXPECT_THAT(full.asked, ElementsAre(Bytes(0), size));
  run();
  EXPECT_EQ(full.packets, 2);
  full.asked.clear();
  EXPECT_EQ(link.sender(0).freeAt(), calendar.now());
  EXPECT_THAT(full.asked, ElementsAre(Bytes(0))) << "all have arrived";
}

TEST_F(LinkTest, TellsBothEndsOfItsState) {
  struct Listener final : LinkListener {
    void onLinkState(bool isUp) override { states.push_back(isUp); }
    std::vector<bool> states;
  };
  Listener listeners[2];
  for (std::uint32_t i = 0; i < 2; ++i) {
    link.attach(i, {fabric.port(HostIndex(i), 1), AdapterIndex(0), &ports[i], false, &listeners[i]});
  }
  link.setUp(true);  // as it is
  link.setUp(false);
  link.setUp(true);
  for (const Listener& listener : listeners) EXPECT_THAT(listener.states, ElementsAre(false, true));
}

TEST_F(LinkTest, GoingDownLosesWhatIsOnItsWay) {
  link.sender(0).transmit(packet(1, 64));
  at(nanoseconds(20), [&] { link.setUp(false); });
  at(nanoseconds(30), [&] { link.setUp(true); });
  at(nanoseconds(40), [&] { link.sender(0).transmit(packet(2, 64)); });
  run();
  EXPECT_THAT(ports[1].arrived, ElementsAre(std::pair(2u, nanoseconds(40) + serialisation(64) + kFlight)));
  EXPECT_EQ(link.counters(0).droppedDown, 1u);
}

TEST_F(LinkTest, ProbesTellFirstBitAndLastBit) {
  std::vector<std::pair<observe::PacketEvent::Action, Time>> events;
  std::vector<HostIndex> hosts;
  probes.packet.attach([&](const observe::PacketEvent& event) {
    events.emplace_back(event.action, event.time);
    hosts.push_back(event.host);
  });
  link.sender(0).transmit(packet(1, 64));
  link.sender(0).transmit(packet(2, 64));
  run();
  using Action = observe::PacketEvent::Action;
  const Time one = serialisation(64);
  EXPECT_THAT(events, ElementsAre(std::pair(Action::kSent, Time()), std::pair(Action::kSent, one),
                                  std::pair(Action::kReceived, one + nanoseconds(10)),
                                  std::pair(Action::kReceived, 2 * one + nanoseconds(10))));
  EXPECT_THAT(hosts, ElementsAre(HostIndex(0), HostIndex(0), HostIndex(1), HostIndex(1)));
}

}  // namespace
}  // namespace hca::network

// Two ports of one adapter: each with its wire, its address, its loopback and its room.
#include <gtest/gtest.h>

#include "models/adapter/transport/ingress_buffer.h"
#include "models/adapter/transport/ready_queues.h"
#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

using Options = RcPair::Options;

constexpr std::uint16_t kFirstOfB = 2;
constexpr std::uint16_t kSecondOfA = 1 + Side::kSecondLid;
constexpr std::uint16_t kSecondOfB = kFirstOfB + Side::kSecondLid;

/// A pair whose queue pairs are those of the second ports.
struct OnSecondPorts : RcPair {
  explicit OnSecondPorts(QpService service = QpService::kRc) : RcPair(0, service) {
    qpA = create(a, service);
    qpB = create(b, service);
    connect(a, qpA, qpB, kSecondOfB, 0, 2);
    connect(b, qpB, qpA, kSecondOfA, 0, 2);
  }
};

TEST(Ports, AQueuePairSendsThroughItsPortWithThatPortsAddress) {
  OnSecondPorts pair;
  Lid source;
  pair.a.secondWire.filter = [&](network::Packet& packet) {
    source = packet.route.sourceLid;
    return true;
  };
  pair.fill(600);
  pair.post(600);
  pair.run();
  EXPECT_TRUE(pair.arrived(600));
  EXPECT_EQ(source.value(), kSecondOfA);
  EXPECT_EQ(pair.a.secondWire.sent, 3);
  EXPECT_EQ(pair.a.wire.sent, 0);
  EXPECT_EQ(pair.b.secondWire.sent, 1) << "the acknowledgement";
  EXPECT_EQ(pair.b.wire.sent, 0);
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_FALSE(pair.a.completions.records[0].isError());
}

TEST(Ports, ReadResponsesLeaveThroughTheQueuePairsPort) {
  OnSecondPorts pair;
  Options read;
  read.opcode = 0x10;
  pair.post(600, read);
  pair.run();
  EXPECT_EQ(pair.a.secondWire.sent, 1);
  EXPECT_EQ(pair.b.secondWire.sent, 3);
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_FALSE(pair.a.completions.records[0].isError());
}

TEST(Ports, APacketAtAnotherPortThanItsQueuePairsIsDropped) {
  RcPair pair;
  pair.a.wire.receiver = &pair.b.dispatcher.port(2);
  pair.fill(100);
  pair.post(100);
  pair.run(microseconds(1));
  EXPECT_FALSE(pair.arrived(100));
  EXPECT_EQ(pair.b.dispatcher.drops().wrongPort, 1u);
  EXPECT_EQ(pair.b.wire.sent + pair.b.secondWire.sent, 0) << "silently";
}

TEST(Ports, TheOtherPortIsReachedOverTheWireAlone) {
  RcPair pair;
  const QpNumber first = RcPair::create(pair.a, QpService::kRc);
  const QpNumber second = RcPair::create(pair.a, QpService::kRc);
  RcPair::connect(pair.a, first, second, kSecondOfA, 0, 1);
  RcPair::connect(pair.a, second, first, 1, 0, 2);
  pair.qpA = first;
  // What a switch would do: from port 1 of A to its port 2, and back.
  pair.a.wire.receiver = &pair.a.dispatcher.port(2);
  pair.a.secondWire.receiver = &pair.a.dispatcher.port(1);
  Options write;
  write.remote = RcPair::kData + 0x8000;
  pair.fill(100);
  pair.post(100, write);
  pair.run();
  EXPECT_EQ(std::memcmp(&pair.a.memory.bytes[RcPair::kData], &pair.a.memory.bytes[RcPair::kData + 0x8000], 100), 0);
  EXPECT_EQ(pair.a.loopback.packets() + pair.a.secondLoopback.packets(), 0u);
  EXPECT_EQ(pair.a.wire.sent, 1);
  EXPECT_EQ(pair.a.secondWire.sent, 1) << "the acknowledgement";
}

TEST(Ports, EachHasALoopbackOfItsOwn) {
  OnSecondPorts pair;
  pair.qpA = RcPair::create(pair.a, QpService::kRc);
  RcPair::connect(pair.a, pair.qpA, pair.qpA, kSecondOfA, 0, 2);
  Options write;
  write.remote = RcPair::kData + 0x8000;
  pair.fill(100);
  pair.post(100, write);
  pair.run();
  EXPECT_EQ(pair.a.secondLoopback.packets(), 2u);
  EXPECT_EQ(pair.a.loopback.packets(), 0u);
  EXPECT_EQ(pair.a.wire.sent + pair.a.secondWire.sent, 0);
}

TEST(Ports, ASlowPortHoldsUpItsOwnQueuePairsAlone) {
  RcPair pair;
  const QpNumber peer = RcPair::create(pair.b, QpService::kRc);
  const QpNumber fast = RcPair::create(pair.a, QpService::kRc);
  RcPair::connect(pair.a, fast, peer, kSecondOfB, 0, 2);
  RcPair::connect(pair.b, peer, fast, kSecondOfA, 0, 2);
  pair.a.wire.pace = milliseconds(10);  // nothing leaves
  const std::int64_t room = pair.a.config.egressBuffer.count();
  pair.post(static_cast<std::uint32_t>(2 * room));
  pair.run(microseconds(20));
  const int stuck = pair.a.wire.sent;
  EXPECT_GT(stuck, 0);
  EXPECT_LE(stuck * std::int64_t{RcPair::kMtu}, room);
  pair.qpA = fast;
  pair.sendIndex = 0;
  pair.post(static_cast<std::uint32_t>(2 * room));
  pair.run(microseconds(20));
  EXPECT_EQ(pair.a.secondWire.sent * std::int64_t{RcPair::kMtu}, 2 * room);
  EXPECT_EQ(pair.a.wire.sent, stuck);
}

TEST(Ports, MulticastReachesTheMembersOfThePortWhereItArrives) {
  network::Gid group{0xFF, 0x12};
  OnSecondPorts pair(QpService::kUd);
  ASSERT_TRUE(pair.b.table.attachMulticast(pair.qpB, group).ok());
  Options send;
  send.opcode = 0x0A;
  send.datagram = send.globalRoute = true;
  send.remoteLid = 0xC001;
  send.remoteQp = 0xFFFFFF;
  send.remoteGid = group;
  pair.postReceive(200);
  pair.post(100, send);
  pair.run();
  EXPECT_EQ(pair.b.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.dispatcher.drops().notMember, 0u);
  pair.a.secondWire.receiver = &pair.b.dispatcher.port(1);
  pair.postReceive(200);
  pair.post(100, send);
  pair.run();
  EXPECT_EQ(pair.b.completions.records.size(), 1u) << "no member there";
  EXPECT_EQ(pair.b.dispatcher.drops().notMember, 1u);
}

TEST(Ports, ATransitionToAPortThatIsNotThereIsRefused) {
  RcPair pair;
  const QpNumber qp = RcPair::create(pair.a, QpService::kRc);
  for (const std::uint8_t port : {0, 3}) {
    QpAttributes to;
    to.path.port = port;
    const CommandResult result = pair.a.table.modify(qp, QpTransition::kResetToInit, 0, to);
    EXPECT_EQ(result.status, CommandStatus::kBadParameter) << unsigned{port};
    EXPECT_EQ(result.syndrome, Syndrome::kQpPortUnknown);
  }
  QpAttributes to;
  to.path.port = 2;
  EXPECT_TRUE(pair.a.table.modify(qp, QpTransition::kResetToInit, 0, to).ok());
  to.path.port = 3;
  EXPECT_TRUE(pair.a.table.modify(qp, QpTransition::kInitToReadyToReceive, 0, to).ok()) << "which takes no port";
  QpAttributes now;
  ASSERT_TRUE(pair.a.table.query(qp, now).ok());
  EXPECT_EQ(now.path.port, 2);
}

TEST(IngressBuffer, IsFullOfWhatWaitsAndWhatIsOnTheWay) {
  struct Dma final : pcie::DmaPort {
    void read(const pcie::DmaRead&) override {}
    void write(const pcie::DmaWrite&) override {}
    void message(BusAddress, std::uint32_t) override {}
    [[nodiscard]] Time drainedAt() const override { return nanoseconds(5000); }
    [[nodiscard]] Time drainTime(Bytes size) const override { return nanoseconds(size.count()); }
  };
  const Dma dma;
  EXPECT_EQ(IngressBuffer(dma, Bytes(2000)).hasRoomAt(Time(), Bytes(0)), nanoseconds(3000));
  EXPECT_EQ(IngressBuffer(dma, Bytes(2000)).hasRoomAt(Time(), Bytes(700)), nanoseconds(3700));
  EXPECT_EQ(IngressBuffer(dma, Bytes(2000)).hasRoomAt(nanoseconds(4000), Bytes(700)), nanoseconds(4000));
  EXPECT_EQ(IngressBuffer(dma, Bytes(2000)).hasRoomAt(nanoseconds(5000), Bytes(2000)), nanoseconds(5000));
  EXPECT_EQ(IngressBuffer(dma, Bytes(2000)).hasRoomAt(nanoseconds(5000), Bytes(2001)), nanoseconds(5001));
  EXPECT_EQ(IngressBuffer(dma, Bytes(0)).hasRoomAt(Time(), Bytes(700)), Time()) << "no limit";
}

TEST(ReadyQueues, PortsTakeTurnsAndOneWithoutRoomIsPassedOver) {
  ReadyQueues ready(2);
  for (std::uint32_t qp = 10; qp < 13; ++qp) ready.push(1, QpNumber(qp));
  ready.push(2, QpNumber(20));
  const auto all = [](std::uint8_t) { return true; };
  EXPECT_EQ(ready.pop(all), QpNumber(10));
  EXPECT_EQ(ready.pop(all), QpNumber(20));
  EXPECT_EQ(ready.pop(all), QpNumber(11));
  ready.push(2, QpNumber(21));
  EXPECT_EQ(ready.pop([](std::uint8_t port) { return port == 1; }), QpNumber(12));
  EXPECT_EQ(ready.pop([](std::uint8_t port) { return port == 1; }), std::nullopt);
  EXPECT_FALSE(ready.empty());
  EXPECT_EQ(ready.pop(all), QpNumber(21));
  EXPECT_TRUE(ready.empty());
}

}  // namespace
}  // namespace hca::adapter::test

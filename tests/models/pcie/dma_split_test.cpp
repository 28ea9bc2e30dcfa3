// Ranges of every awkward size, cut into TLPs.
#include "tests/models/pcie/pcie_system.h"

namespace hca::pcie::test {
namespace {

struct Case {
  std::uint64_t offset;
  std::uint32_t length;
  std::uint64_t writeTlps, requestTlps, completionTlps;
};
// MPS 256, MRRS 512, RCB 64; counted by hand.
constexpr Case kCases[] = {
    {0, 1, 1, 1, 1},         {4095, 1, 1, 1, 1},    {0, 63, 1, 1, 1},    {1, 63, 1, 1, 1},
    {1, 64, 1, 1, 2},        {0, 65, 1, 1, 2},      {4064, 63, 2, 2, 2},  // 32 to the page's end, 31 behind it
    {4064, 64, 2, 2, 2},     {4090, 65, 2, 2, 2},                         // 6 + 59
    {0, 4096, 16, 8, 64},    {64, 4096, 17, 9, 64},  // 4032 = 15 x 256 + 192 = 7 x 512 + 448, then 64
    {4095, 4096, 17, 9, 65},                         // 1, then 4095 in 16 writes, 8 requests, 64 completions
};

TEST(DmaSplit, C47_CountsBytesAndData) {
  PcieSystem system;
  unsigned seed = 0;
  for (const Case& c : kCases) {
    SCOPED_TRACE(std::to_string(c.length) + " at " + std::to_string(c.offset));
    const auto data = pattern(c.length, ++seed);
    const TrafficCount up = system.upstream();
    system.write(c.offset, data, 1);
    system.settle();
    EXPECT_EQ(system.upstream().tlps - up.tlps, c.writeTlps);
    EXPECT_EQ(system.upstream().bytes - up.bytes, c.length + 24 * c.writeTlps);
    EXPECT_EQ(system.peek(c.offset, c.length), data);

    const TrafficCount before = system.upstream(), down = system.downstream();
    system.read(c.offset, c.length);
    system.settle();
    EXPECT_EQ(system.upstream().tlps - before.tlps, c.requestTlps);
    EXPECT_EQ(system.upstream().bytes - before.bytes, 24 * c.requestTlps);
    EXPECT_EQ(system.downstream().tlps - down.tlps, c.completionTlps);
    EXPECT_EQ(system.downstream().bytes - down.bytes, c.length + 20 * c.completionTlps);
    EXPECT_EQ(system.client.reads.back().data, data);
    EXPECT_EQ(system.client.writes.back().status, host::DmaStatus::kOk);
  }
  EXPECT_EQ(system.client.reads.size(), std::size(kCases)) << "one answer for each read";
  EXPECT_EQ(system.client.writes.size(), std::size(kCases)) << "and for each write";
  EXPECT_EQ(system.endpoint.pendingReads(), 0U);
}

// With room for one at a time on the host's side: seven of the eight wait.
TEST(DmaSplit, C47_EntriesOfOneTickLandOnceAndInOrder) {
  PcieConfig config;
  config.upstreamCredits.postedHeaders = 1;
  PcieSystem system(config);
  for (unsigned i = 0; i < 8; ++i) system.write(i * 64, pattern(64, i), i, false, Traffic::kCqe);
  system.settle();
  ASSERT_EQ(system.client.writes.size(), 8U);
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(system.client.writes[i].token, i);
    EXPECT_EQ(system.peek(i * 64, 64), pattern(64, i));
  }
}

TEST(DmaSplit, MegabyteInOnePiece) {
  PcieConfig config;
  config.tags = 32;
  PcieSystem system(config);
  const auto data = pattern(PcieSystem::kMemory - 100);
  system.write(33, data, 1);
  system.settle();
  system.read(33, static_cast<std::uint32_t>(data.size()), 2);
  system.settle();
  EXPECT_EQ(system.client.reads.at(0).data, data);
  EXPECT_EQ(system.client.writes.size(), 1U);
}

// The lanes are busy for as long as the closed form says, whatever else happens.
TEST(DmaSplit, BusyTimeIsTheClosedForm) {
  PcieSystem system;
  for (unsigned i = 0; i < 100; ++i) {
    system.write(i * 97, pattern(1000 + i * 7, i), i);
    system.read(i * 131, 900 + i * 5, i);
  }
  system.settle();
  Burst up, down;
  const LinkTiming& timing = system.link.timing();
  for (unsigned i = 0; i < 100; ++i) {
    const std::uint64_t writeAt = system.at(i * 97).value(), readAt = system.at(i * 131).value();
    up = up + timing.writes(writeAt, 1000 + i * 7, 256) + timing.readRequests(readAt, 900 + i * 5, 512);
    down = down + timing.completions(readAt, 900 + i * 5, 512);
  }
  EXPECT_EQ(system.upstream().tlps, up.tlps);
  EXPECT_EQ(system.upstream().bytes, static_cast<std::uint64_t>(up.bytes.count()));
  EXPECT_EQ(system.upstream().busy, up.duration);
  EXPECT_EQ(system.downstream().tlps, down.tlps);
  EXPECT_EQ(system.downstream().busy, down.duration);
}

// What software writes into device control counts from then on.
TEST(DmaSplit, DeviceControlSetsTheSizes) {
  PcieSystem system;
  system.rootComplex.configWrite(0x68, 2, 0);  // payload and read request 128
  system.write(0, pattern(512));
  system.read(0, 512);
  system.settle();
  EXPECT_EQ(system.upstream().tlps, 4U + 4U);
}

TEST(DmaSplit, NothingToTransferIsOneTlp) {
  PcieSystem system;
  system.write(0, {}, 4);
  system.read(0, 0, 5);
  system.settle();
  EXPECT_EQ(system.upstream().tlps, 2U);
  EXPECT_EQ(system.upstream().bytes, 48U);
  EXPECT_EQ(system.downstream().bytes, 20U);
  EXPECT_EQ(system.client.writes.at(0).token, 4U);
  EXPECT_EQ(system.client.reads.at(0).token, 5U);
}

TEST(DmaSplit, TrafficIsCountedByKind) {
  PcieSystem system;
  system.write(0, pattern(64), 0, false, Traffic::kCqe);
  system.endpoint.message(BusAddress(0xFEE00000), 0);
  system.rootComplex.barWrite(0, 0, pattern(8));
  system.rootComplex.barRead(0, 0, 8, [](ByteView) {});
  system.settle();
  const auto bytes = [&](Link::Direction direction, Traffic traffic) {
    return system.link.counts(direction)[static_cast<std::size_t>(traffic)].bytes;
  };
  EXPECT_EQ(bytes(Link::Direction::kUpstream, Traffic::kCqe), 88U);
  EXPECT_EQ(bytes(Link::Direction::kUpstream, Traffic::kInterrupt), 28U);
  EXPECT_EQ(bytes(Link::Direction::kDownstream, Traffic::kDoorbell), 32U);
  EXPECT_EQ(bytes(Link::Direction::kDownstream, Traffic::kMmioRead), 24U);
  EXPECT_EQ(bytes(Link::Direction::kUpstream, Traffic::kMmioRead), 28U);
}

}  // namespace
}  // namespace hca::pcie::test

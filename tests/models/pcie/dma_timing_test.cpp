// When things happen, to the picosecond, and what they cost.
#include "tests/models/pcie/pcie_system.h"

namespace hca::pcie::test {
namespace {

constexpr Time kOne = picoseconds(1);

PcieConfig narrow() {
  PcieConfig config;
  config.width = LinkWidth::kX8;
  return config;
}

TEST(DmaTiming, WriteIsVisibleAtItsTimeAndNotBefore) {
  PcieSystem system(narrow());
  const auto data = pattern(64);
  system.write(0, data, 7);
  const Time visible = system.lanes(64 + 24) + system.portsAndWire() + system.config.writeLatency;
  system.calendar.runUntil(visible - kOne);
  EXPECT_EQ(system.peek(0, 64), std::vector<std::uint8_t>(64));
  EXPECT_TRUE(system.client.writes.empty());
  system.calendar.runUntil(visible);
  EXPECT_EQ(system.peek(0, 64), data);
  ASSERT_EQ(system.client.writes.size(), 1U);
  EXPECT_EQ(system.client.writes[0].token, 7U);
  EXPECT_EQ(system.client.writes[0].status, host::DmaStatus::kOk);
}

// P1 of the published measurements is 560 ns for a warm read of 64 bytes: the defaults add up to it.
TEST(DmaTiming, ReadOfOneLine) {
  PcieSystem system(narrow());
  system.poke(128, pattern(64));
  system.read(128, 64, 9, nanoseconds(3));
  const Time ready = system.lanes(24) + system.portsAndWire() + system.config.readLatency;
  const Time back = ready + system.lanes(64 + 20) + system.portsAndWire();
  EXPECT_NEAR(static_cast<double>(back.count()), 560e3, 1e3);
  system.calendar.runUntil(back + nanoseconds(3) - kOne);
  EXPECT_TRUE(system.client.reads.empty());
  system.calendar.runUntil(back + nanoseconds(3));
  ASSERT_EQ(system.client.reads.size(), 1U);
  EXPECT_EQ(system.client.reads[0].data, pattern(64));
}

TEST(DmaTiming, ReadTakesWhatIsInMemoryWhenItsDataIsReady) {
  PcieSystem system(narrow());
  const Time ready = system.lanes(24) + system.portsAndWire() + system.config.readLatency;
  system.read(0, 1);
  system.calendar.runUntil(ready - kOne);
  system.poke(0, {0xAA});
  system.calendar.runUntil(ready);
  system.poke(0, {0xBB});
  system.settle();
  EXPECT_EQ(system.client.reads.at(0).data, std::vector<std::uint8_t>{0xAA});
}

TEST(DmaTiming, ReadWaitsForEarlierWritesToBeVisible) {
  PcieSystem system(narrow());
  system.write(0, pattern(64));
  system.read(0, 64);
  const Time visible = system.lanes(88) + system.portsAndWire() + system.config.writeLatency;
  const Time back = visible + system.config.readLatency + system.lanes(84) + system.portsAndWire();
  system.settle();
  ASSERT_EQ(system.client.reads.size(), 1U);
  EXPECT_EQ(system.client.reads[0].time, back);
  EXPECT_EQ(system.client.reads[0].data, pattern(64));
}

TEST(DmaTiming, RegisterWriteAndRead) {
  PcieSystem system(narrow());
  system.rootComplex.barWrite(0, 0x800, pattern(8));
  const Time arrival = system.lanes(8 + 24) + system.portsAndWire();
  system.calendar.runUntil(arrival - kOne);
  EXPECT_TRUE(system.registers.writes.empty());
  system.calendar.runUntil(arrival);
  ASSERT_EQ(system.registers.writes.size(), 1U);
  EXPECT_EQ(system.registers.writes[0].token, 0x800U);

  const Time start = system.calendar.now();
  std::vector<std::uint8_t> seen;
  system.rootComplex.barRead(0, 0x800, 8, [&](ByteView bytes) { seen.assign(bytes.begin(), bytes.end()); });
  const Time back = start + system.lanes(24) + system.portsAndWire() + system.lanes(8 + 20) + system.portsAndWire();
  system.calendar.runUntil(back - kOne);
  EXPECT_TRUE(seen.empty());
  system.calendar.runUntil(back);
  EXPECT_EQ(seen, pattern(8));
}

TEST(DmaTiming, InterruptMessageArrivesAsAWriteOfFourBytes) {
  PcieSystem system(narrow());
  system.endpoint.message(BusAddress(0xFEE00000), 0x41);
  const Time visible = system.lanes(4 + 24) + system.portsAndWire() + system.config.writeLatency;
  system.calendar.runUntil(visible - kOne);
  EXPECT_TRUE(system.messages.arrived.empty());
  system.calendar.runUntil(visible);
  ASSERT_EQ(system.messages.arrived.size(), 1U);
  EXPECT_EQ(system.messages.arrived[0].data[0], 0x41);
}

TEST(DmaTiming, BackToBackWritesShareTheLanes) {
  PcieSystem system(narrow());
  for (std::uint64_t i = 0; i < 10; ++i) system.write(i * 64, pattern(64), i);
  system.settle();
  ASSERT_EQ(system.client.writes.size(), 10U);
  for (std::int64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(system.client.writes[static_cast<std::size_t>(i)].time,
              system.lanes(88) * (i + 1) + system.portsAndWire() + system.config.writeLatency);
  }
}

// A read of a page at MRRS 512: the completions of all eight requests come back to back.
TEST(DmaTiming, TheEndpointKnowsWhenItsLinkWillBeFree) {
  PcieSystem system(narrow());
  system.write(0, pattern(256));
  system.write(256, pattern(64));
  system.read(0, 64);
  const Time busy = system.lanes(256 + 24) + system.lanes(64 + 24) + system.lanes(24);
  EXPECT_EQ(system.endpoint.drainedAt(), system.calendar.now() + busy);
  EXPECT_EQ(system.endpoint.drainTime(Bytes(4 * 256)), 4 * system.lanes(256 + 24));
  system.settle();
  const Time now = system.calendar.now();
  EXPECT_LT(system.endpoint.drainedAt(), now);
  system.write(0, pattern(64));
  EXPECT_EQ(system.endpoint.drainedAt(), now + system.lanes(64 + 24));
}

TEST(DmaTiming, LargeReadIsLimitedByTheLanes) {
  PcieSystem system(narrow());
  system.read(0, 4096);
  system.settle();
  const Time ready = system.lanes(24) + system.portsAndWire() + system.config.readLatency;
  EXPECT_EQ(system.client.reads.at(0).time, ready + system.lanes(84) * 64 + system.portsAndWire());
}

TEST(DmaTiming, LargeReadIsLimitedByTheMemory) {
  PcieConfig config = narrow();
  config.hostReadBandwidth = BitsPerSecond(8'000'000'000);  // 1 ns a byte: slower than the lanes
  PcieSystem system(config);
  system.read(0, 4096);
  system.read(4096, 4096);
  system.settle();
  const Time first = system.lanes(24) + system.portsAndWire();
  // The last request's 512 bytes leave as soon as the memory has them all.
  const Time tail = system.lanes(84) * 8 + system.portsAndWire();
  EXPECT_EQ(system.client.reads.at(0).time, first + nanoseconds(4096) + system.config.readLatency + tail);
  EXPECT_EQ(system.client.reads.at(1).time, first + nanoseconds(8192) + system.config.readLatency + tail);
}

TEST(DmaTiming, ReadsWaitForTags) {
  PcieConfig config = narrow();
  config.tags = 1;
  PcieSystem system(config);
  system.read(0, 64, 1);
  system.read(64, 64, 2);
  system.settle();
  const Time round = system.lanes(24) + system.config.readLatency + system.lanes(84) + 2 * system.portsAndWire();
  ASSERT_EQ(system.client.reads.size(), 2U);
  EXPECT_EQ(system.client.reads[0].time, round);
  EXPECT_EQ(system.client.reads[1].time, 2 * round);
}

// A burst's tags come back one by one, as each request's completions are in.
TEST(DmaTiming, TagsOfABurstComeBackOneByOne) {
  PcieConfig config = narrow();
  config.tags = 2;
  PcieSystem system(config);
  system.read(0, 1024, 1);
  system.read(4096, 64, 2);
  system.settle();
  const Time ready = system.lanes(24) + system.portsAndWire() + system.config.readLatency;
  const Time firstTag = ready + system.lanes(84) * 8 + system.portsAndWire();
  ASSERT_EQ(system.client.reads.size(), 2U);
  EXPECT_EQ(system.client.reads[0].time, ready + system.lanes(84) * 16 + system.portsAndWire());
  EXPECT_EQ(system.client.reads[1].time, firstTag + ready + system.lanes(84) + system.portsAndWire());
}

// What the plan for speed is: one entry for a write, two for a read, one for a register write.
TEST(DmaTiming, CalendarEntries) {
  PcieSystem system;
  const auto entries = [&](auto&& action) {
    const std::uint64_t before = system.calendar.executed();
    action();
    system.settle();
    return system.calendar.executed() - before;
  };
  EXPECT_EQ(entries([&] { system.write(0, pattern(64)); }), 1U);
  EXPECT_EQ(entries([&] { system.read(0, 64); }), 2U);
  EXPECT_EQ(entries([&] { system.rootComplex.barWrite(0, 0, pattern(8)); }), 1U);
  EXPECT_EQ(entries([&] { system.endpoint.message(BusAddress(0xFEE00000), 1); }), 1U);
  EXPECT_EQ(entries([&] { system.rootComplex.barRead(0, 0, 4, [](ByteView) {}); }), 2U);
  EXPECT_EQ(entries([&] { system.write(0, pattern(4096)); }), 1U);
  EXPECT_EQ(entries([&] { system.read(0, 4096); }), 2U);
}

TEST(DmaTiming, PlentyOfCreditsCostNoEntries) {
  PcieConfig config;
  config.upstreamCredits = {64, 1024, 64, 64, 64, 1024};
  config.downstreamCredits = config.upstreamCredits;
  PcieSystem system(config);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t before = system.calendar.executed();
    system.write(0, pattern(64));
    system.read(64, 64);
    system.rootComplex.barWrite(0, 0, pattern(8));
    system.settle();
    ASSERT_EQ(system.calendar.executed() - before, 4U);
  }
}

TEST(DmaTiming, TimingOnlyMovesNoBytesAndTakesTheSameTime) {
  PcieSystem system;
  system.poke(0, pattern(300));
  DmaWrite write;
  write.address = system.at(0);
  write.length = 300;
  write.notify = true;
  write.client = &system.client;
  system.endpoint.write(write);
  system.settle();
  EXPECT_EQ(system.peek(0, 300), pattern(300));
  EXPECT_EQ(system.client.writes.at(0).time,
            system.lanes(280) + system.lanes(44 + 24) + system.portsAndWire() + system.config.writeLatency);
  const Time start = system.calendar.now();
  system.read(0, 300);
  system.settle();
  const Time took = system.client.reads.at(0).time - start;
  DmaRead read;
  read.address = system.at(0);
  read.length = 300;
  read.timingOnly = true;
  read.client = &system.client;
  const Time again = system.calendar.now();
  system.endpoint.read(read);
  system.settle();
  EXPECT_EQ(system.client.reads.at(1).time - again, took);
  EXPECT_TRUE(system.client.reads.at(1).data.empty());
  EXPECT_EQ(system.client.reads.at(1).status, host::DmaStatus::kOk);
  read.address = BusAddress(0x10);
  write.address = BusAddress(0x10);
  system.endpoint.read(read);
  system.endpoint.write(write);
  system.settle();
  EXPECT_EQ(system.client.reads.at(2).status, host::DmaStatus::kUnmapped) << "an error is an error without data too";
  EXPECT_EQ(system.client.writes.at(1).status, host::DmaStatus::kUnmapped);
}

}  // namespace
}  // namespace hca::pcie::test

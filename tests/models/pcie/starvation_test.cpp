// One credit of each kind: slow, never stuck.
#include <random>

#include "tests/models/pcie/pcie_system.h"

namespace hca::pcie::test {
namespace {

PcieConfig scarce() {
  PcieConfig config;
  config.tags = 4;
  config.upstreamCredits = {1, 1, 1, 1, 1, 1};
  config.downstreamCredits = {1, 1, 1, 1, 1, 1};
  return config;
}

void expectIdle(const PcieSystem& system) {
  for (const auto direction : {Link::Direction::kUpstream, Link::Direction::kDownstream}) {
    const WaitState state = system.link.waitState(direction);
    for (const WaitState::OfClass& waiting : state.classes) {
      EXPECT_EQ(waiting.bursts, 0U);
      EXPECT_EQ(waiting.oldestSince, kForever);
    }
  }
  EXPECT_EQ(system.endpoint.pendingReads(), 0U);
  EXPECT_EQ(system.rootComplex.pendingReads(), 0U);
}

TEST(Starvation, C48_AHundredThousandMixedOperations) {
  PcieSystem system(scarce());
  std::mt19937_64 random(5);
  std::uint64_t reads = 0, writes = 0, messages = 0, registerWrites = 0, registerReads = 0, answers = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t offset = random() % (PcieSystem::kMemory - 4096);
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        system.read(offset, static_cast<std::uint32_t>(1 + random() % 600), ++reads);
        break;
      case 3:
        system.write(offset, pattern(1 + random() % 300), ++writes, random() % 2 == 0);
        break;
      case 4:
        system.write(offset & ~63ULL, pattern(64), ++writes, false, Traffic::kCqe);
        break;
      case 5:
        ++messages;
        system.endpoint.message(BusAddress(0xFEE00000), 1);
        break;
      case 6:
        ++registerWrites;
        system.rootComplex.barWrite(0, 8 * (random() % 100), pattern(8));
        break;
      case 7:
        ++registerReads;
        system.rootComplex.barRead(0, 8 * (random() % 100), 8, [&](ByteView) { ++answers; });
        break;
    }
    if (random() % 16 == 0) {
      system.calendar.runUntil(system.calendar.now() + picoseconds(static_cast<std::int64_t>(random() % 2'000'000)));
    }
  }
  system.settle();
  EXPECT_EQ(system.client.reads.size(), reads);
  EXPECT_EQ(system.client.writes.size(), writes);
  EXPECT_EQ(system.messages.arrived.size(), messages);
  EXPECT_EQ(system.registers.writes.size(), registerWrites);
  EXPECT_EQ(answers, registerReads);
  expectIdle(system);
  EXPECT_GT(system.link.waitState(Link::Direction::kUpstream).delayed, 10'000U) << "the test would prove nothing";
}

// While something waits, the link says what and since when.
TEST(Starvation, TheLinkTellsWhatWaits) {
  PcieSystem system(scarce());
  system.calendar.runUntil(nanoseconds(10));
  for (std::uint64_t i = 0; i < 5; ++i) system.write(64 * i, pattern(64), i);
  system.rootComplex.barRead(0, 0, 4, [](ByteView) {});
  system.rootComplex.barRead(0, 0, 4, [](ByteView) {});
  const WaitState up = system.link.waitState(Link::Direction::kUpstream);
  EXPECT_EQ(up.classes[static_cast<std::size_t>(TlpClass::kPosted)].bursts, 4U);
  EXPECT_EQ(up.classes[static_cast<std::size_t>(TlpClass::kPosted)].oldestSince, nanoseconds(10));
  EXPECT_EQ(up.classes[static_cast<std::size_t>(TlpClass::kPosted)].available.headers, 0);
  EXPECT_EQ(up.classes[static_cast<std::size_t>(TlpClass::kNonPosted)].available.headers, 1);
  const WaitState down = system.link.waitState(Link::Direction::kDownstream);
  EXPECT_EQ(down.classes[static_cast<std::size_t>(TlpClass::kNonPosted)].bursts, 1U);
  system.settle();
  expectIdle(system);
}

// A credit comes back when the write is in memory, and not a picosecond earlier.
TEST(Starvation, CreditsComeBackWhenTheReceiverIsDone) {
  PcieConfig config;
  config.upstreamCredits.postedHeaders = 1;
  PcieSystem system(config);
  system.write(0, pattern(64), 1);
  system.write(64, pattern(64), 2);
  system.settle();
  const Time once = system.lanes(88) + system.portsAndWire() + config.writeLatency;
  ASSERT_EQ(system.client.writes.size(), 2U);
  EXPECT_EQ(system.client.writes[0].time, once);
  EXPECT_EQ(system.client.writes[1].time, once + config.creditReturnLatency + once);
}

}  // namespace
}  // namespace hca::pcie::test

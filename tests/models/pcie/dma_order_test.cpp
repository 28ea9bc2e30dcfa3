// What may pass what, and what not.
#include "tests/models/pcie/pcie_system.h"

namespace hca::pcie::test {
namespace {

TEST(DmaOrder, DataCompletionEventInterrupt) {
  PcieSystem system;
  std::vector<std::string> seen;
  struct Watcher final : host::MemoryWatcher {
    std::vector<std::string>* seen = nullptr;
    std::string name;
    void onMemoryWritten(BusAddress, std::uint64_t) override { seen->push_back(name); }
  } data, cqe, eqe;
  data.name = "data";
  cqe.name = "cqe";
  eqe.name = "eqe";
  for (Watcher* watcher : {&data, &cqe, &eqe}) watcher->seen = &seen;
  system.space.watch(system.at(0), 4096, data);
  system.space.watch(system.at(8192), 64, cqe);
  system.space.watch(system.at(16384), 64, eqe);
  system.write(0, pattern(4096), 1);
  system.write(8192, pattern(64), 2, false, Traffic::kCqe);
  system.write(16384, pattern(64), 3, false, Traffic::kEqe);
  system.endpoint.message(BusAddress(0xFEE00000), 5);
  system.settle();
  EXPECT_EQ(seen, (std::vector<std::string>{"data", "cqe", "eqe"}));
  ASSERT_EQ(system.client.writes.size(), 3U);
  ASSERT_EQ(system.messages.arrived.size(), 1U);
  EXPECT_LE(system.client.writes[0].time, system.client.writes[1].time);
  EXPECT_LE(system.client.writes[1].time, system.client.writes[2].time);
  EXPECT_LE(system.client.writes[2].time, system.messages.arrived[0].time);
}

// The same with one credit of each, so that all of them have to wait.
TEST(DmaOrder, HoldsWhileCreditsAreScarce) {
  PcieConfig config;
  config.upstreamCredits = {1, 16, 1, 1, 1, 4};
  PcieSystem system(config);
  for (std::uint64_t round = 0; round < 50; ++round) {
    system.read(round * 64, 64, round);
    system.write(65536 + round * 512, pattern(512, static_cast<unsigned>(round)), 2 * round);
    system.write(8192 + round * 64, pattern(64), 2 * round + 1, false, Traffic::kCqe);
    system.endpoint.message(BusAddress(0xFEE00000), static_cast<std::uint32_t>(round));
  }
  system.settle();
  ASSERT_EQ(system.client.writes.size(), 100U);
  ASSERT_EQ(system.messages.arrived.size(), 50U);
  EXPECT_EQ(system.client.reads.size(), 50U);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(system.client.writes[i].token, i);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(system.messages.arrived[i].data[0], i);
    EXPECT_LE(system.client.writes[2 * i + 1].time, system.messages.arrived[i].time);
  }
}

// What a program that polls memory after a register read relies on.
TEST(DmaOrder, RegisterReadReturnsWhenEarlierWritesAreVisible) {
  PcieSystem system;
  Time alone;
  system.rootComplex.barRead(0, 0, 4, [&](ByteView) { alone = system.calendar.now(); });
  system.settle();
  const Time start = system.calendar.now();
  // The write leaves the adapter in the very moment in which the read arrives there.
  Time answered;
  system.rootComplex.barRead(0, 0, 4, [&](ByteView) {
    answered = system.calendar.now();
    EXPECT_EQ(system.peek(0, 64), pattern(64));
  });
  system.calendar.runUntil(start + system.registers.reads.front().time - picoseconds(1));
  system.write(0, pattern(64), 1, false, Traffic::kCqe);
  system.settle();
  ASSERT_EQ(system.client.writes.size(), 1U);
  EXPECT_EQ(answered, system.client.writes.front().time);
  EXPECT_GT(answered - start, alone);
}

TEST(DmaOrder, ReadsSeeEarlierWritesAlways) {
  PcieConfig config;
  config.upstreamCredits = {2, 0, 2, 0, 0, 0};
  PcieSystem system(config);
  for (unsigned i = 0; i < 100; ++i) {
    system.write(0, pattern(256, i), i);
    system.read(0, 256, i);
  }
  system.settle();
  ASSERT_EQ(system.client.reads.size(), 100U);
  for (const Told& read : system.client.reads) {
    // Its own write, or a later one: writes may pass reads, reads never writes.
    bool isOwnOrLater = false;
    for (unsigned i = static_cast<unsigned>(read.token); i < 100; ++i) isOwnOrLater |= read.data == pattern(256, i);
    EXPECT_TRUE(isOwnOrLater) << read.token;
  }
}

TEST(DmaOrder, ABlockedReadLetsWritesPass) {
  PcieConfig config;
  config.upstreamCredits.nonPostedHeaders = 1;
  config.creditReturnLatency = microseconds(1);
  PcieSystem system(config);
  system.read(0, 64, 1);
  system.read(64, 64, 2);
  system.write(128, pattern(64), 3);
  system.settle();
  EXPECT_EQ(system.client.writes.at(0).time,
            system.lanes(24) + system.lanes(88) + system.portsAndWire() + system.config.writeLatency);
  EXPECT_GT(system.client.reads.at(1).time, microseconds(1));
}

TEST(DmaOrder, RelaxedOrderingAloneMayPassAWrite) {
  PcieConfig config;
  config.upstreamCredits = {0, 8, 0, 0, 0, 0};
  const auto orderWith = [&config](bool relaxed) {
    PcieSystem system(config);
    system.write(0, pattern(64), 1);
    system.write(4096, pattern(128), 2);  // needs all credits: waits for the first
    system.write(8192, pattern(64), 3, relaxed);
    system.write(12288, pattern(16), 4);
    system.settle();
    std::vector<std::uint64_t> order;
    for (const Told& write : system.client.writes) order.push_back(write.token);
    return order;
  };
  EXPECT_EQ(orderWith(true), (std::vector<std::uint64_t>{1, 3, 2, 4}));
}

TEST(DmaOrder, StrictWritesStayInOrder) {
  PcieConfig config;
  config.upstreamCredits = {0, 8, 0, 0, 0, 0};
  PcieSystem system(config);
  system.write(0, pattern(64), 1);
  system.write(4096, pattern(128), 2);
  system.write(8192, pattern(64), 3);
  system.settle();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(system.client.writes[i].token, i + 1);
}

TEST(DmaOrder, RelaxedOrderingNeedsTheFunctionsPermission) {
  PcieConfig config;
  config.upstreamCredits = {0, 8, 0, 0, 0, 0};
  PcieSystem system(config);
  system.rootComplex.configWrite(0x68, 2, 0);  // device control: relaxed ordering off
  system.write(0, pattern(64), 1);
  system.write(4096, pattern(128), 2);
  system.write(8192, pattern(64), 3, true);
  system.settle();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(system.client.writes[i].token, i + 1);
}

TEST(DmaOrder, RegisterAccessesStayInOrder) {
  PcieSystem system;
  std::vector<std::uint8_t> seen;
  for (unsigned i = 0; i < 20; ++i) system.rootComplex.barWrite(0, 8 * i, pattern(8, i));
  system.rootComplex.barRead(0, 8 * 19, 8, [&](ByteView bytes) { seen.assign(bytes.begin(), bytes.end()); });
  system.settle();
  ASSERT_EQ(system.registers.writes.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(system.registers.writes[i].token, 8 * i);
  EXPECT_EQ(seen, pattern(8, 19)) << "a read pushes the writes before it";
}

// A register read's completion pushes the adapter's writes in front of it: what it wrote before is in memory when
// software has the value.
TEST(DmaOrder, CompletionOfARegisterReadFollowsEarlierWrites) {
  PcieConfig config;
  config.upstreamCredits.postedHeaders = 1;
  config.writeLatency = Time();
  config.creditReturnLatency = microseconds(1);
  PcieSystem system(config);
  bool done = false;
  system.rootComplex.barRead(0, 0, 4, [&](ByteView) { done = true; });
  for (unsigned i = 0; i < 5; ++i) system.write(64 * i, pattern(64), i);
  while (!done && !system.calendar.empty()) system.calendar.step();
  EXPECT_EQ(system.client.writes.size(), 5U);
}

}  // namespace
}  // namespace hca::pcie::test

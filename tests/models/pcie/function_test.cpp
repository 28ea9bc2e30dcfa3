// The adapter as a PCI function: configuration, registers, reset, errors.
#include "tests/models/pcie/pcie_system.h"

namespace hca::pcie::test {
namespace {

constexpr std::uint32_t kMsixControl = ConfigurationSpace::kMsix + 2;

TEST(Function, IsFoundAndSized) {
  PcieSystem system;
  EXPECT_EQ(system.rootComplex.configRead(0, 4), 0x101715B3U);
  EXPECT_EQ(system.rootComplex.configRead(0, 2), 0x15B3U);
  EXPECT_EQ(system.rootComplex.configRead(3, 1), 0x10U);
  EXPECT_EQ(system.rootComplex.configRead(4096, 4), ~0U);
  EXPECT_EQ(system.rootComplex.configRead(0, 8), ~0U);
  EXPECT_EQ(system.rootComplex.barSize(0), 32U << 20);
  EXPECT_EQ(system.rootComplex.barSize(1), 0U);
  EXPECT_EQ(system.rootComplex.barSize(7), 0U);
  EXPECT_EQ(system.rootComplex.configRead(0x10, 4), 0xCU) << "sizing left the register as it was";
}

TEST(Function, RegistersAnswerOnlyWhileMemorySpaceIsEnabled) {
  PcieSystem system;
  system.registers.bytes[4] = 0x5A;
  system.rootComplex.configWrite(4, 2, 4);
  std::vector<std::uint8_t> seen;
  const auto read = [&](std::uint64_t offset) {
    system.rootComplex.barRead(0, offset, 4, [&](ByteView bytes) { seen.assign(bytes.begin(), bytes.end()); });
    system.settle();
    return seen;
  };
  system.rootComplex.barWrite(0, 4, pattern(4));
  EXPECT_EQ(read(4), std::vector<std::uint8_t>(4, 0xFF));
  EXPECT_TRUE(system.registers.writes.empty());
  EXPECT_EQ(system.endpoint.counters().unclaimedWrites, 1U);
  EXPECT_EQ(system.endpoint.counters().unclaimedReads, 1U);
  system.enable();
  EXPECT_EQ(read(4)[0], 0x5A);
  EXPECT_EQ(read((32U << 20) - 4), std::vector<std::uint8_t>(4, 0xFF)) << "no register claims it";
  EXPECT_EQ(system.endpoint.counters().unclaimedReads, 1U);
  EXPECT_EQ(read(32U << 20), std::vector<std::uint8_t>(4, 0xFF)) << "beyond the end";
  EXPECT_EQ(system.endpoint.counters().unclaimedReads, 2U);
  system.rootComplex.barRead(2, 0, 4, [&](ByteView bytes) { seen.assign(bytes.begin(), bytes.end()); });
  system.settle();
  EXPECT_EQ(seen, std::vector<std::uint8_t>(4, 0xFF)) << "there is no such register";
}

TEST(Function, AWriteIsAnnouncedBeforeItArrives) {
  PcieSystem system;
  system.enable();
  system.rootComplex.barWrite(0, 0x40, pattern(8));
  system.rootComplex.barWrite(0, 32U << 20, pattern(8));  // beyond the register
  system.settle();
  ASSERT_EQ(system.registers.writes.size(), 1U);
  ASSERT_EQ(system.registers.announced.size(), 1U);
  const Told& announced = system.registers.announced.front();
  const Told& write = system.registers.writes.front();
  EXPECT_EQ(announced.token, write.token);
  EXPECT_EQ(announced.data, write.data);
  EXPECT_LT(announced.time, write.time);
}

TEST(Function, NoDmaWithoutBusMastering) {
  PcieSystem system;
  system.rootComplex.configWrite(4, 2, 2);
  system.write(0, pattern(64), 1);
  system.read(0, 64, 2);
  system.endpoint.message(BusAddress(0xFEE00000), 1);
  system.settle();
  EXPECT_EQ(system.peek(0, 64), std::vector<std::uint8_t>(64));
  EXPECT_EQ(system.client.writes.at(0).status, host::DmaStatus::kUnmapped);
  EXPECT_EQ(system.client.reads.at(0).status, host::DmaStatus::kUnmapped) << "whoever waits must not wait for ever";
  EXPECT_TRUE(system.messages.arrived.empty());
  EXPECT_EQ(system.endpoint.counters().writesWithoutMastering, 1U);
  EXPECT_EQ(system.endpoint.counters().readsWithoutMastering, 1U);
  EXPECT_EQ(system.endpoint.counters().messagesWithoutMastering, 1U);
  EXPECT_EQ(system.upstream().tlps, 0U);
  EXPECT_EQ(system.endpoint.pendingReads(), 0U);
}

TEST(Function, UnmappedMemoryIsReportedBack) {
  PcieSystem system;
  DmaRead read;
  read.address = BusAddress(0x10);
  read.length = 2000;
  read.client = &system.client;
  read.token = 1;
  system.endpoint.read(read);
  DmaWrite write;
  const auto data = pattern(64);
  write.address = BusAddress(0x10);
  write.data = data;
  write.length = 64;
  write.client = &system.client;
  write.token = 2;
  system.endpoint.write(write);
  write.client = nullptr;
  system.endpoint.write(write);
  system.settle();
  ASSERT_EQ(system.client.reads.size(), 1U);
  EXPECT_EQ(system.client.reads[0].status, host::DmaStatus::kUnmapped);
  EXPECT_TRUE(system.client.reads[0].data.empty());
  ASSERT_EQ(system.client.writes.size(), 1U) << "a failure is told without notify";
  EXPECT_EQ(system.client.writes[0].status, host::DmaStatus::kUnmapped);
  EXPECT_EQ(system.rootComplex.counters().writeErrors, 2U);
  EXPECT_EQ(system.rootComplex.counters().readErrors, 1U);
  EXPECT_EQ(system.endpoint.counters().failedReads, 1U);
  EXPECT_EQ(system.endpoint.pendingReads(), 0U);
  // 2000 bytes are four requests; each failed one is answered by one TLP without data.
  EXPECT_EQ(system.downstream().bytes, 4 * 20U);
}

// The range ends in the middle: the write and the read have one answer each, and it is the failure.
TEST(Function, AFailureOfOnePartIsOneAnswer) {
  PcieSystem system;
  const std::uint64_t edge = PcieSystem::kMemory - 4096;
  system.write(edge, pattern(12000), 1);
  system.read(edge, 12000, 2);
  system.write(0, pattern(64), 3);
  system.settle();
  ASSERT_EQ(system.client.writes.size(), 2U);
  EXPECT_EQ(system.client.writes[0].status, host::DmaStatus::kUnmapped);
  EXPECT_EQ(system.client.writes[1].status, host::DmaStatus::kOk);
  ASSERT_EQ(system.client.reads.size(), 1U);
  EXPECT_EQ(system.client.reads[0].status, host::DmaStatus::kUnmapped);
  auto mapped = pattern(12000);
  mapped.resize(4096);
  EXPECT_EQ(system.peek(edge, 4096), mapped);
  EXPECT_EQ(system.endpoint.pendingReads(), 0U);
}

// With one tag, the failure comes while the rest of the read still waits.
TEST(Function, AFailedReadGivesUpWaitingForTags) {
  PcieConfig config;
  config.tags = 1;
  PcieSystem system(config);
  system.read(PcieSystem::kMemory, 4000, 1);
  system.read(0, 64, 2);
  system.settle();
  ASSERT_EQ(system.client.reads.size(), 2U);
  EXPECT_EQ(system.client.reads[0].token, 1U);
  EXPECT_EQ(system.client.reads[0].status, host::DmaStatus::kUnmapped);
  EXPECT_EQ(system.client.reads[1].status, host::DmaStatus::kOk);
  EXPECT_EQ(system.endpoint.pendingReads(), 0U);
  EXPECT_EQ(system.upstream().tlps, 2U) << "the rest was not asked for";
}

TEST(Function, MsixControlReachesTheAdapter) {
  PcieSystem system;
  system.rootComplex.configWrite(kMsixControl, 2, 0xC000);
  system.rootComplex.configWrite(kMsixControl, 2, 0x8000);
  system.rootComplex.configWrite(kMsixControl, 2, 0x8000);
  EXPECT_EQ(system.registers.msix, (std::vector<std::string>{"1m", "1"}));
  EXPECT_EQ(system.rootComplex.configRead(kMsixControl, 2), 0x801FU);
}

TEST(Function, ASinkTakesTheMessages) {
  struct Sink final : InterruptSink {
    void onInterrupt(InterruptVector vector) override { vectors.push_back(vector.value()); }
    std::vector<std::uint32_t> vectors;
  } sink;
  PcieSystem system;
  system.rootComplex.setInterruptSink(&sink);
  system.endpoint.message(BusAddress(0xFEEFFFFC), 12);
  system.settle();
  system.rootComplex.setInterruptSink(nullptr);
  system.endpoint.message(BusAddress(0xFEE00000), 13);
  system.settle();
  EXPECT_EQ(sink.vectors, std::vector<std::uint32_t>{12});
  EXPECT_EQ(system.messages.arrived.size(), 1U);
  EXPECT_EQ(system.rootComplex.counters().messages, 2U);
}

TEST(Function, ResetDropsDmaUnderWay) {
  PcieConfig config;
  config.tags = 2;
  PcieSystem system(config);
  system.poke(0, pattern(4096));
  for (std::uint64_t i = 0; i < 10; ++i) {
    system.read(0, 4096, i);
    system.write(8192 + 64 * i, pattern(64), i);
  }
  system.rootComplex.barWrite(0, 0, pattern(8));
  system.calendar.runUntil(nanoseconds(600));  // some of it has happened, most has not
  const std::size_t reads = system.client.reads.size(), writes = system.client.writes.size();
  const auto before = system.peek(8192, 640);
  system.rootComplex.reset();
  EXPECT_EQ(system.registers.resets, 1);
  EXPECT_EQ(system.rootComplex.configRead(4, 2), 0U);
  system.settle();
  EXPECT_EQ(system.client.reads.size(), reads);
  EXPECT_EQ(system.client.writes.size(), writes);
  EXPECT_EQ(system.peek(8192, 640), before);
  EXPECT_EQ(system.endpoint.pendingReads(), 0U) << "nothing leaks";
  system.enable();
  system.read(0, 4096, 77);
  system.write(16384, pattern(64, 9), 78);
  system.settle();
  ASSERT_EQ(system.client.reads.size(), reads + 1);
  EXPECT_EQ(system.client.reads.back().token, 77U);
  EXPECT_EQ(system.client.reads.back().data, pattern(4096));
  EXPECT_EQ(system.client.writes.back().token, 78U);
}

TEST(Function, ResetAtEveryMomentOfARead) {
  PcieConfig config;
  config.tags = 3;
  PcieSystem system(config);
  Time when{};
  for (std::uint64_t step = 0; step < 400; ++step) {
    const std::size_t answered = system.client.reads.size();
    system.read(0, 3000, 1);
    system.read(5000, 100, 2, nanoseconds(50));
    system.write(6000, pattern(5000), 3);
    when += nanoseconds(4);
    system.calendar.runUntil(system.calendar.now() + when);
    const std::size_t sofar = system.client.reads.size() - answered;
    system.rootComplex.reset();
    system.enable();
    system.read(0, 64, 4);
    system.settle();
    ASSERT_EQ(system.client.reads.size(), answered + sofar + 1);
    ASSERT_EQ(system.client.reads.back().token, 4U);
    ASSERT_EQ(system.endpoint.pendingReads(), 0U);
  }
}

TEST(Function, RegisterReadsAcrossAResetAreAnswered) {
  PcieSystem system;
  std::vector<std::uint8_t> seen;
  system.rootComplex.barRead(0, 0, 4, [&](ByteView bytes) { seen.assign(bytes.begin(), bytes.end()); });
  system.rootComplex.reset();
  system.settle();
  EXPECT_EQ(seen, std::vector<std::uint8_t>(4, 0xFF));
  EXPECT_EQ(system.rootComplex.pendingReads(), 0U);
}

TEST(Function, ClientsMayAskAgainWhileTheyAreTold) {
  PcieSystem system;
  struct Chain final : DmaClient {
    explicit Chain(PcieSystem& s) : system(s) {}
    void onDmaRead(std::uint64_t token, host::DmaStatus, ByteView data) override {
      const std::vector<std::uint8_t> before(data.begin(), data.end());
      for (int i = 0; i < 40; ++i) system.read(0, 4096);  // lets the tables grow
      EXPECT_EQ(std::vector<std::uint8_t>(data.begin(), data.end()), before);
      DmaWrite write;
      write.address = system.at(64);
      write.data = data;
      write.length = static_cast<std::uint32_t>(data.size());
      write.client = this;
      write.notify = true;
      write.token = token + 1;
      system.endpoint.write(write);
    }
    void onDmaWritten(std::uint64_t token, host::DmaStatus) override {
      last = token;
      if (token >= 10) return;
      DmaRead read;
      read.address = system.at(64);
      read.length = 64;
      read.client = this;
      read.token = token + 1;
      system.endpoint.read(read);
    }
    PcieSystem& system;
    std::uint64_t last = 0;
  } chain(system);
  chain.onDmaWritten(0, host::DmaStatus::kOk);
  system.settle();
  EXPECT_EQ(chain.last, 10U);
}

TEST(Function, OneThatIsGoneReadsAsAllOnesUntilItIsBack) {
  PcieSystem system;
  const std::uint32_t bar = system.rootComplex.configRead(0x10, 4);
  system.read(0, 64, 1);
  system.endpoint.setPresent(false);
  EXPECT_EQ(system.registers.resets, 1);
  EXPECT_EQ(system.rootComplex.configRead(0, 4), ~0U);
  system.rootComplex.configWrite(0x10, 4, 0);
  std::vector<std::uint8_t> seen;
  const auto read = [&] {
    system.rootComplex.barRead(0, 4, 4, [&](ByteView bytes) { seen.assign(bytes.begin(), bytes.end()); });
    system.settle();
  };
  read();
  EXPECT_EQ(seen, std::vector<std::uint8_t>(4, 0xFF));
  system.rootComplex.barWrite(0, 4, pattern(4));
  system.write(0, pattern(64), 2);
  system.settle();
  EXPECT_TRUE(system.registers.writes.empty());
  EXPECT_EQ(system.peek(0, 64), std::vector<std::uint8_t>(64));
  EXPECT_TRUE(system.client.reads.empty()) << "what was under way is dropped";
  system.endpoint.setPresent(true);
  EXPECT_EQ(system.registers.resets, 2);
  EXPECT_EQ(system.rootComplex.configRead(0x10, 4), bar);
  read();
  EXPECT_EQ(seen, std::vector<std::uint8_t>(4, 0));
}

}  // namespace
}  // namespace hca::pcie::test

// An adapter that gets nothing but nonsense: it must neither crash nor hang, and every access is accounted for.
#include <gtest/gtest.h>

#include <random>

#include "models/adapter/hca.h"
#include "models/wire/mmio_map.h"
#include "tests/support/plain_memory.h"

namespace hca::adapter::test {
namespace {

class NoWire final : public network::PacketSender {
 public:
  explicit NoWire(kernel::Calendar& calendar) : calendar_(calendar) {}
  Time transmit(network::Packet&&) override { return calendar_.now() + nanoseconds(1); }
  [[nodiscard]] Time freeAt() const override { return calendar_.now(); }

 private:
  kernel::Calendar& calendar_;
};

class RandomAccesses : public testing::Test {
 protected:
  RandomAccesses()
      : memory(calendar),
        wire(calendar),
        context{calendar,     probes,         pool, memory, kernel::ClockDomain(Hertz(1'000'000'000)),
                HostIndex(0), AdapterIndex(0)},
        adapter(context, config(), options(), {&wire}) {
    for (auto& byte : memory.bytes) byte = static_cast<std::uint8_t>(random());
  }
  static HcaConfig config() {
    HcaConfig config;
    config.command.bootTime = microseconds(1);
    config.command.deviceLatency = config.command.objectLatency = microseconds(1);
    return config;
  }
  static Hca::Options options() {
    Hca::Options options;
    options.identity.ports.resize(1);
    options.addresses.resize(1);
    return options;
  }
  [[nodiscard]] std::uint64_t offset() {
    switch (random() % 6) {
      case 0:
        return random() % 0x240;  // versions, command queue, health
      case 1:
        return wire::InitSegment::kCommandDoorbell;
      case 2:
        return wire::kMsixTableOffset + random() % 0x10000;
      case 3:
        return wire::uarOffset(wire::kFirstUarIndex + random() % 8) + (random() % 0x60);
      case 4:
        return wire::uarOffset(wire::kFirstUarIndex + random() % 8) + 0x800 + (random() % 8) * 0x100;
      default:
        return random() % wire::kBar0Size;
    }
  }
  void access() {
    static constexpr std::size_t kWidths[] = {1, 2, 4, 4, 8, 8, 64};
    std::array<std::uint8_t, 64> bytes;
    const std::size_t width = kWidths[random() % std::size(kWidths)];
    const std::uint64_t at = offset() / std::min<std::size_t>(width, 8) * std::min<std::size_t>(width, 8);
    if (random() % 4 == 0) return adapter.onBarRead(0, at, MutableByteView(bytes.data(), width));
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    if (at == wire::InitSegment::kCommandQueueHigh) bytes.fill(0);  // keep the queue where memory is
    adapter.onBarWrite(0, at, ByteView(bytes.data(), width));
  }
  /// Now and then a command that is nearly right: known opcode, sane lengths, the rest as it comes.
  void plantCommand() {
    static constexpr std::uint16_t kOpcodes[] = {0x100, 0x102, 0x104, 0x107, 0x108, 0x10A, 0x10B, 0x200, 0x301,
                                                 0x302, 0x400, 0x401, 0x403, 0x500, 0x501, 0x502, 0x503, 0x504,
                                                 0x507, 0x50A, 0x50B, 0x762, 0x800, 0x801, 0x802, 0x803, 0x805};
    const std::size_t entry = (random() % 32) * 64;
    memory.bytes[entry] = 7;
    for (const std::size_t reserved : {1U, 2U, 3U, 0x3EU}) memory.bytes[entry + reserved] = 0;
    for (const std::size_t field : {4U, 0x38U}) {
      for (std::size_t i = 0; i < 3; ++i) memory.bytes[entry + field + i] = 0;
      memory.bytes[entry + field + 3] = static_cast<std::uint8_t>(random() % 2 != 0 ? 16 : random());
    }
    const std::uint16_t opcode = kOpcodes[random() % std::size(kOpcodes)];
    memory.bytes[entry + 0x10] = static_cast<std::uint8_t>(opcode >> 8);
    memory.bytes[entry + 0x11] = static_cast<std::uint8_t>(opcode);
    memory.bytes[entry + 0x3F] |= 1;
    const std::array<std::uint8_t, 4> zero{};
    adapter.onBarWrite(0, wire::InitSegment::kCommandQueueHigh, ByteView(zero.data(), 4));
    adapter.onBarWrite(0, wire::InitSegment::kCommandQueueLow, ByteView(zero.data(), 4));
    std::array<std::uint8_t, 4> doorbell{};
    doorbell[3 - entry / 64 / 8] = static_cast<std::uint8_t>(1U << (entry / 64 % 8));
    adapter.onBarWrite(0, wire::InitSegment::kCommandDoorbell, ByteView(doorbell.data(), 4));
  }
  void run(int operations) {
    calendar.runUntil(milliseconds(2));
    for (int i = 0; i < operations; ++i) {
      if (i % 16 == 0) plantCommand();
      access();
      if (i % 8 == 0) calendar.runUntil(calendar.now() + microseconds(5));
      if (i % 4096 == 0) adapter.onReset();
      if (i % 4096 == 1) calendar.runUntil(calendar.now() + milliseconds(2));
    }
    calendar.runUntil(calendar.now() + milliseconds(100));
  }

  std::mt19937_64 random{20260101};
  kernel::Calendar calendar;
  observe::Probes probes;
  kernel::PayloadPool pool;
  PlainMemory memory;
  NoWire wire;
  AdapterContext context;
  Hca adapter;
};

TEST_F(RandomAccesses, NeitherCrashNorHang) {
#ifdef __SANITIZE_ADDRESS__
  constexpr int kOperations = 100'000;
#else
  constexpr int kOperations = 1'000'000;
#endif
  run(kOperations);
  EXPECT_TRUE(adapter.command().idle()) << "every doorbell ended in an answer or a count";
  EXPECT_GT(adapter.command().executed(), 100u) << "some commands were good enough to execute";
  EXPECT_FALSE(adapter.command().refusals().empty());
  EXPECT_GT(adapter.decoder().ignoredWrites(), 100u);
  EXPECT_GT(adapter.sendQueue().ignoredDoorbells(), 100u);
  EXPECT_GT(adapter.completion().counters().armsUnknownCq, 100u);
  EXPECT_GT(adapter.events().counters().doorbellsUnknownEq, 100u);
}

}  // namespace
}  // namespace hca::adapter::test

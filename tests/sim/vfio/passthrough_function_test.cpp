#include "sim/vfio/passthrough_function.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <numeric>

#include "tests/sim/vfio/hardware.h"

namespace hca::vfio {
namespace {

// Offsets from the PCI specifications, not from the code.
constexpr std::uint32_t kCommand = 0x04, kBar0 = 0x10, kRom = 0x30, kLine = 0x3C;
constexpr std::uint32_t kMemory = 2, kMaster = 4;

class PassthroughFunctionTest : public testing::Test, public PassthroughFunction::VectorListener {
 public:
  void onVector(std::uint32_t vector) override { raised.push_back(vector); }

  std::uint32_t read(std::uint32_t offset, std::uint32_t width) {
    std::uint8_t bytes[4] = {};
    EXPECT_EQ(function.readConfig(offset, {bytes, width}), 0);
    return std::accumulate(bytes, bytes + 4, 0U, [n = 0](std::uint32_t all, std::uint8_t byte) mutable {
      return all | std::uint32_t{byte} << (8 * n++);
    });
  }
  int write(std::uint32_t offset, std::uint32_t width, std::uint32_t value) {
    std::uint8_t bytes[4];
    for (unsigned i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
    return function.writeConfig(offset, {bytes, width});
  }
  std::uint32_t capability(std::uint8_t id) {
    for (std::uint32_t at = read(0x34, 1); at != 0; at = read(at + 1, 1)) {
      if (read(at, 1) == id) return at;
    }
    return 0;
  }

  Hardware hardware;
  PassthroughFunction function{hardware};
  std::vector<std::uint32_t> raised;
};

TEST_F(PassthroughFunctionTest, IsResetWhenAUserComesAndGoes) {
  function.open(*this);
  EXPECT_EQ(hardware.resets, 1);
  EXPECT_EQ(read(kCommand, 2), kMemory) << "registers are enabled, bus mastering isn't";
  EXPECT_EQ(write(kCommand, 2, kMemory | kMaster), 0);
  EXPECT_TRUE(hardware.space.mastersBus());
  function.close();
  EXPECT_EQ(hardware.resets, 2);
  EXPECT_FALSE(hardware.space.mastersBus());
  EXPECT_EQ(hardware.sink, nullptr);
  EXPECT_FALSE(function.isOpen());
}

TEST_F(PassthroughFunctionTest, BaseAddressesAreTheUsersAlone) {
  function.open(*this);
  write(kBar0, 4, ~0U);
  write(kBar0 + 4, 4, ~0U);
  EXPECT_EQ(read(kBar0, 4), 0xFFF0000CU) << "1 MiB, 64 bits, prefetchable";
  EXPECT_EQ(read(kBar0 + 4, 4), ~0U);
  EXPECT_EQ(hardware.configRead(kBar0, 4), 0xCU);
  write(kBar0, 4, 0x80000000U);
  EXPECT_EQ(read(kBar0, 4), 0x8000000CU);
  write(0x18, 4, ~0U);
  EXPECT_EQ(read(0x18, 4), 0U) << "there is no such register";
  write(kRom, 4, ~0U);
  EXPECT_EQ(read(kRom, 4), 0U);
}

TEST_F(PassthroughFunctionTest, WhatIsTheMachinesCantBeWritten) {
  function.open(*this);
  write(0x00, 4, 0);
  EXPECT_EQ(read(0x00, 4), 0x101715B3U);
  const std::uint32_t msix = capability(0x11);
  ASSERT_NE(msix, 0U);
  write(msix + 2, 2, 0xC000);
  EXPECT_EQ(read(msix + 2, 2), Hardware::kVectors - 1);
  EXPECT_FALSE(hardware.msixEnabled());
  write(kLine, 1, 11);
  EXPECT_EQ(read(kLine, 1), 11U);
  const std::uint32_t express = capability(0x10);
  const std::uint32_t payload = hardware.space.maxPayload();
  write(express + 8, 2, 0);  // the least payload and the least read requests
  EXPECT_EQ(read(express + 8, 2), 0U);
  EXPECT_EQ(hardware.space.maxPayload(), payload);
  EXPECT_EQ(hardware.space.maxReadRequest(), payload) << "read requests are never shorter than that";
}

TEST_F(PassthroughFunctionTest, ReadsAndWritesOfAnyLength) {
  function.open(*this);
  std::vector<std::uint8_t> whole(4096);
  EXPECT_EQ(function.readConfig(0, {whole.data(), whole.size()}), 0);
  EXPECT_EQ(whole[0], 0xB3);
  EXPECT_EQ(function.readConfig(4095, {whole.data(), 1}), 0);
  EXPECT_EQ(function.readConfig(4095, {whole.data(), 2}), EINVAL);
  EXPECT_EQ(function.writeConfig(~std::uint64_t{0}, {whole.data(), 2}), EINVAL);
  const std::uint8_t three[3] = {static_cast<std::uint8_t>(kMemory | kMaster), 0, 0};
  EXPECT_EQ(function.writeConfig(kCommand, {three, 3}), 0);
  EXPECT_TRUE(hardware.space.mastersBus());
}

TEST_F(PassthroughFunctionTest, RegistersAnswerWhileTheyAreEnabled) {
  function.open(*this);
  const std::uint8_t word[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(function.writeBar(0, 0x100, {word, 8}), 0);
  ASSERT_EQ(hardware.writes.size(), 1U);
  EXPECT_EQ(hardware.writes[0].bytes.size(), 8U) << "a doorbell stays one write";
  EXPECT_EQ(function.writeBar(0, Hardware::kBarSize - 4, {word, 8}), EINVAL);
  EXPECT_EQ(function.writeBar(1, 0, {word, 4}), EINVAL);
  EXPECT_EQ(function.writeBar(77, 0, {word, 4}), EINVAL);
  write(kCommand, 2, 0);
  EXPECT_EQ(function.writeBar(0, 0x100, {word, 4}), EIO);
  EXPECT_EQ(function.readBar(0, 0x100, 4, [](ByteView) {}), EIO);
  write(kCommand, 2, kMemory);
  write(capability(0x01) + 4, 2, 3);  // D3hot
  EXPECT_EQ(function.readBar(0, 0x100, 4, [](ByteView) {}), EIO);
  EXPECT_EQ(hardware.writes.size(), 1U);
}

TEST_F(PassthroughFunctionTest, AccessesAreCutAsAProcessorCutsThem) {
  function.open(*this);
  std::vector<std::uint8_t> bytes(100, 7);
  EXPECT_EQ(function.writeBar(0, 0x1039, {bytes.data(), bytes.size()}), 0);
  std::vector<std::uint32_t> lengths;
  for (const auto& one : hardware.writes) lengths.push_back(static_cast<std::uint32_t>(one.bytes.size()));
  EXPECT_EQ(lengths, (std::vector<std::uint32_t>{1, 2, 4, 64, 24, 4, 1}));
}

TEST_F(PassthroughFunctionTest, AReadIsDoneWhenAllOfItIsThere) {
  function.open(*this);
  std::vector<std::uint8_t> got;
  EXPECT_EQ(function.readBar(0, 0x204, 12, [&](ByteView bytes) { got.assign(bytes.begin(), bytes.end()); }), 0);
  ASSERT_EQ(hardware.reads.size(), 2U);
  hardware.answer(0x04030201);
  EXPECT_TRUE(got.empty());
  hardware.answer(0x0C0B0A0908070605);
  EXPECT_EQ(got, (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST_F(PassthroughFunctionTest, TheVectorTableIsTheMachines) {
  function.open(*this);
  const std::uint8_t word[4] = {};
  EXPECT_EQ(function.writeBar(0, Hardware::kTable + 12, {word, 4}), 0);
  EXPECT_TRUE(hardware.writes.empty());
  std::vector<std::uint8_t> got;
  EXPECT_EQ(function.readBar(0, Hardware::kTable + 12, 4, [&](ByteView all) { got.assign(all.begin(), all.end()); }),
            0);
  EXPECT_EQ(got, std::vector<std::uint8_t>(4, 0xFF));
  EXPECT_EQ(function.writeBar(0, Hardware::kTable + 16 * Hardware::kVectors, {word, 4}), 0);
  EXPECT_EQ(hardware.writes.size(), 1U) << "what lies behind it isn't";
}

TEST_F(PassthroughFunctionTest, VectorsAreUnmaskedByWhatTheyRaise) {
  function.open(*this);
  EXPECT_EQ(function.disableVectors(), EINVAL);
  EXPECT_EQ(function.connectVectors(Hardware::kVectors, {true}), EINVAL);
  EXPECT_EQ(function.connectVectors(1, std::vector<bool>(Hardware::kVectors, true)), EINVAL);
  EXPECT_FALSE(hardware.msixEnabled());
  EXPECT_EQ(function.connectVectors(1, {true, false}), 0);
  EXPECT_TRUE(hardware.msixEnabled());
  EXPECT_EQ(hardware.entry(0), "masked");
  EXPECT_EQ(hardware.entry(1), "open");
  EXPECT_EQ(hardware.entry(2), "masked");
  EXPECT_EQ(hardware.entry(3), "untouched");
  EXPECT_EQ(function.connectVectors(3, {true}), EINVAL) << "the first call said how many there are";
  EXPECT_EQ(function.connectVectors(2, {true}), 0);
  EXPECT_EQ(hardware.entry(2), "open");
  hardware.sink->onInterrupt(InterruptVector(2));
  hardware.sink->onInterrupt(InterruptVector(0));  // was masked meanwhile
  hardware.sink->onInterrupt(InterruptVector(99));
  EXPECT_EQ(raised, std::vector<std::uint32_t>{2});
  EXPECT_EQ(function.disableVectors(), 0);
  EXPECT_FALSE(hardware.msixEnabled());
  EXPECT_EQ(hardware.entry(2), "masked");
  hardware.sink->onInterrupt(InterruptVector(2));
  EXPECT_EQ(raised.size(), 1U);
  EXPECT_EQ(function.connectVectors(0, std::vector<bool>(Hardware::kVectors, true)), 0) << "and then more";
}

TEST_F(PassthroughFunctionTest, VectorsCanBeSetWhileRegistersAreDisabled) {
  function.open(*this);
  write(kCommand, 2, 0);
  EXPECT_EQ(function.connectVectors(0, {true}), 0);
  EXPECT_EQ(hardware.entry(0), "open");
  EXPECT_TRUE(hardware.space.decodesMemory()) << "until the entry has arrived";
  EXPECT_EQ(function.connectVectors(0, {false}), 0);
  hardware.answer(0);
  EXPECT_TRUE(hardware.space.decodesMemory());
  hardware.answer(0);
  EXPECT_FALSE(hardware.space.decodesMemory());
}

TEST_F(PassthroughFunctionTest, RegistersThatTheUserEnablesMeanwhileStayEnabled) {
  function.open(*this);
  write(kCommand, 2, 0);
  EXPECT_EQ(function.connectVectors(0, {true}), 0);
  write(kCommand, 2, kMemory);
  hardware.answer(0);
  EXPECT_TRUE(hardware.space.decodesMemory());
}

TEST_F(PassthroughFunctionTest, AResetKeepsConfigurationAndInterrupts) {
  function.open(*this);
  write(kCommand, 2, kMemory | kMaster);
  write(kBar0, 4, 0x80000000U);
  EXPECT_EQ(function.connectVectors(0, {true, false}), 0);
  hardware.writes.clear();
  EXPECT_EQ(function.reset(), 0);
  EXPECT_EQ(hardware.resets, 2);
  EXPECT_EQ(read(kCommand, 2), kMemory | kMaster);
  EXPECT_TRUE(hardware.space.mastersBus());
  EXPECT_EQ(read(kBar0, 4), 0x8000000CU);
  EXPECT_TRUE(hardware.msixEnabled());
  EXPECT_EQ(hardware.entry(0), "open");
  EXPECT_EQ(hardware.entry(1), "masked");
}

TEST_F(PassthroughFunctionTest, TheUserMayAskForAResetInTheConfiguration) {
  function.open(*this);
  const std::uint32_t control = capability(0x10) + 8;
  const std::uint32_t before = read(control, 2);
  write(kCommand, 2, kMemory | kMaster);
  write(control, 2, before | 0x8000);
  EXPECT_EQ(hardware.resets, 2);
  EXPECT_EQ(read(control, 2), before) << "the bit reads as zero";
  EXPECT_TRUE(hardware.space.mastersBus());
  write(control + 1, 1, 0x80 | before >> 8);
  EXPECT_EQ(hardware.resets, 3);
}

TEST_F(PassthroughFunctionTest, AnythingMayBeWrittenAnywhere) {
  function.open(*this);
  std::uint32_t random = 1;
  for (int i = 0; i < 20000; ++i) {
    random = random * 1664525U + 1013904223U;
    const std::uint32_t offset = random >> 20, length = 1 + (random >> 8 & 7);
    std::uint8_t bytes[8];
    for (unsigned n = 0; n < 8; ++n) bytes[n] = static_cast<std::uint8_t>(random >> n);
    const int error = function.writeConfig(offset, {bytes, length});
    EXPECT_EQ(error, offset + length > 4096 ? EINVAL : 0);
  }
  EXPECT_EQ(read(0, 4), 0x101715B3U);
}

}  // namespace
}  // namespace hca::vfio

#include "models/pcie/configuration_space.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

namespace hca::pcie {
namespace {

// Offsets from the PCI specifications, not from the model.
constexpr std::uint32_t kCommand = 0x04;
constexpr std::uint32_t kBar0 = 0x10;

FunctionDescription description() {
  FunctionDescription function;
  function.deviceId = 0x1019;
  function.revision = 3;
  function.msixVectors = 64;
  function.msixTableOffset = 0x10000;
  function.msixPendingOffset = 0x18000;
  return function;
}

std::uint32_t find(const ConfigurationSpace& space, std::uint32_t id) {
  for (std::uint32_t at = space.read(0x34, 1); at != 0; at = space.read(at + 1, 1)) {
    if (space.read(at, 1) == id) return at;
  }
  return 0;
}

TEST(ConfigurationSpace, SaysWhatItIs) {
  const ConfigurationSpace space(description(), {});
  EXPECT_EQ(space.read(0x00, 4), 0x101915B3U);
  EXPECT_EQ(space.read(0x02, 2), 0x1019U);
  EXPECT_EQ(space.read(0x01, 1), 0x15U);
  EXPECT_EQ(space.read(0x08, 4), 0x02070003U);
  EXPECT_EQ(space.read(0x0E, 1), 0U) << "type 0";
  EXPECT_EQ(space.read(0x06, 2) & 0x10U, 0x10U) << "capability list";
  EXPECT_EQ(space.read(0x3D, 1), 0U) << "no interrupt pin";
}

TEST(ConfigurationSpace, OutOfRangeReadsAllOnesAndIgnoresWrites) {
  ConfigurationSpace space(description(), {});
  EXPECT_EQ(space.read(4096, 1), 0xFFU);
  EXPECT_EQ(space.read(4095, 2), 0xFFFFU);
  EXPECT_EQ(space.read(~0U, 4), ~0U);
  EXPECT_EQ(space.read(0, 3), 0xFFFFFFU);
  EXPECT_EQ(space.write(4093, 4, 0), ConfigurationSpace::Effect::kNone);
  EXPECT_EQ(space.read(4092, 4), 0U);
  EXPECT_EQ(space.read(0x100, 4), 0U) << "no extended capability";
}

TEST(ConfigurationSpace, BarSizing) {
  ConfigurationSpace space(description(), {});
  EXPECT_EQ(space.read(kBar0, 4), 0xCU) << "64 bits, prefetchable";
  space.write(kBar0, 4, ~0U);
  space.write(kBar0 + 4, 4, ~0U);
  EXPECT_EQ(space.read(kBar0, 4), 0xFE00000CU);
  EXPECT_EQ(space.read(kBar0 + 4, 4), ~0U);
  space.write(kBar0, 4, 0x12345678);
  space.write(kBar0 + 4, 4, 0xAB);
  EXPECT_EQ(space.read(kBar0, 4), 0x1200000CU);
  EXPECT_EQ(space.barAddress(), 0xAB12000000ULL);
  for (std::uint32_t bar = 2; bar < 6; ++bar) {
    space.write(kBar0 + 4 * bar, 4, ~0U);
    EXPECT_EQ(space.read(kBar0 + 4 * bar, 4), 0U);
  }
  FunctionDescription large = description();
  large.barSize = 8ULL << 30;
  ConfigurationSpace wide(large, {});
  wide.write(kBar0, 4, ~0U);
  wide.write(kBar0 + 4, 4, ~0U);
  EXPECT_EQ(wide.read(kBar0, 4), 0xCU);
  EXPECT_EQ(wide.read(kBar0 + 4, 4), 0xFFFFFFFEU);
}

TEST(ConfigurationSpace, CommandBits) {
  ConfigurationSpace space(description(), {});
  EXPECT_FALSE(space.decodesMemory());
  EXPECT_FALSE(space.mastersBus());
  space.write(kCommand, 2, 0x2);
  EXPECT_TRUE(space.decodesMemory());
  EXPECT_FALSE(space.mastersBus());
  space.write(kCommand, 2, 0x404);
  EXPECT_FALSE(space.decodesMemory());
  EXPECT_TRUE(space.mastersBus());
  EXPECT_TRUE(space.interruptPinDisabled());
  space.write(kCommand, 2, 0xFFFF);
  EXPECT_EQ(space.read(kCommand, 2), 0x0546U) << "no I/O space, no special cycles";
}

TEST(ConfigurationSpace, ExpressCapability) {
  PcieConfig config;
  config.generation = 4;
  config.width = LinkWidth::kX8;
  config.maxPayload = Bytes(512);
  config.maxReadRequest = Bytes(1024);
  ConfigurationSpace space(description(), config);
  const std::uint32_t at = find(space, 0x10);
  ASSERT_NE(at, 0U);
  EXPECT_EQ(space.read(at + 2, 2) & 0xFFU, 0x02U) << "version 2, endpoint";
  EXPECT_EQ(space.read(at + 4, 4) & 7U, 2U) << "512 bytes";
  EXPECT_NE(space.read(at + 4, 4) & 1U << 28, 0U) << "function-level reset";
  EXPECT_EQ(space.read(at + 8, 2) >> 5 & 7U, 2U);
  EXPECT_EQ(space.read(at + 8, 2) >> 12 & 7U, 3U);
  EXPECT_EQ(space.read(at + 0x12, 2) & 0x3FFU, 4U | 8U << 4) << "16 GT/s, x8";
  EXPECT_EQ(space.maxPayload(), 512U);
  EXPECT_EQ(space.maxReadRequest(), 1024U);
  space.write(at + 8, 2, 5U << 12 | 5U << 5);
  EXPECT_EQ(space.maxPayload(), 512U) << "no more than is supported";
  EXPECT_EQ(space.maxReadRequest(), 4096U);
  EXPECT_FALSE(space.relaxedOrderingEnabled());
  space.write(at + 8, 2, 0);
  EXPECT_EQ(space.maxPayload(), 128U);
}

TEST(ConfigurationSpace, FunctionLevelResetIsAskedForByItsBit) {
  ConfigurationSpace space(description(), {});
  const std::uint32_t at = find(space, 0x10) + 8;
  EXPECT_EQ(space.write(at, 2, 0x7FFF), ConfigurationSpace::Effect::kNone);
  EXPECT_EQ(space.write(at, 2, 0x8000), ConfigurationSpace::Effect::kReset);
  EXPECT_EQ(space.write(at + 1, 1, 0x80), ConfigurationSpace::Effect::kReset);
  EXPECT_EQ(space.write(at, 4, 0x8000), ConfigurationSpace::Effect::kReset);
  EXPECT_EQ(space.read(at, 2) & 0x8000U, 0U) << "reads 0";
  space.write(kCommand, 2, 6);
  space.write(kBar0 + 4, 4, 5);
  space.reset();
  EXPECT_EQ(space.read(kCommand, 2), 0U);
  EXPECT_EQ(space.barAddress(), 0U);
  EXPECT_FALSE(space.mastersBus());
  EXPECT_EQ(space.maxPayload(), 256U);
}

TEST(ConfigurationSpace, MsixCapability) {
  ConfigurationSpace space(description(), {});
  const std::uint32_t at = find(space, 0x11);
  ASSERT_NE(at, 0U);
  EXPECT_EQ(space.read(at + 2, 2), 63U);
  EXPECT_EQ(space.read(at + 4, 4), 0x10000U);
  EXPECT_EQ(space.read(at + 8, 4), 0x18000U);
  EXPECT_EQ(space.write(at + 2, 2, 0xC000), ConfigurationSpace::Effect::kMsixControl);
  EXPECT_TRUE(space.msixEnabled());
  EXPECT_TRUE(space.msixFunctionMasked());
  EXPECT_EQ(space.write(at + 2, 2, 0xC000), ConfigurationSpace::Effect::kNone) << "nothing changed";
  EXPECT_EQ(space.read(at + 2, 2), 0xC03FU);
  EXPECT_EQ(space.write(at, 4, 0), ConfigurationSpace::Effect::kMsixControl);
  EXPECT_FALSE(space.msixEnabled());
}

TEST(ConfigurationSpace, NeitherDecodesNorMastersInD3) {
  ConfigurationSpace space(description(), {});
  const std::uint32_t at = find(space, 0x01) + 4;
  space.write(kCommand, 2, 6);
  space.write(at, 2, 3);
  EXPECT_FALSE(space.decodesMemory());
  EXPECT_FALSE(space.mastersBus());
  EXPECT_EQ(space.read(kCommand, 2), 6U) << "the state is kept";
  space.write(at, 2, 1);
  EXPECT_EQ(space.read(at, 2) & 3U, 3U) << "D1 isn't there";
  space.write(at, 2, 0);
  EXPECT_TRUE(space.decodesMemory());
}

TEST(ConfigurationSpace, RefusesWhatRegistersCannotHold) {
  FunctionDescription function = description();
  function.barSize = 3 << 20;
  EXPECT_THROW(ConfigurationSpace(function, {}), std::invalid_argument);
  function = description();
  function.msixVectors = 2049;
  EXPECT_THROW(ConfigurationSpace(function, {}), std::invalid_argument);
  function = description();
  function.msixTableOffset = 4;
  EXPECT_THROW(ConfigurationSpace(function, {}), std::invalid_argument);
}

// Whatever software writes, what is read-only stays.
TEST(ConfigurationSpace, RandomWritesKeepIdentityAndCapabilities) {
  ConfigurationSpace space(description(), {});
  std::mt19937 random(11);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint32_t width = 1U << random() % 3;
    space.write(random() % 8 == 0 ? random() : random() % 256, width, random());
  }
  EXPECT_EQ(space.read(0, 4), 0x101915B3U);
  EXPECT_EQ(space.read(8, 4), 0x02070003U);
  EXPECT_NE(find(space, 0x10), 0U);
  EXPECT_NE(find(space, 0x11), 0U);
  EXPECT_NE(find(space, 0x01), 0U);
  EXPECT_EQ(space.read(kBar0, 4) & 0x01FFFFFFU, 0xCU);
}

}  // namespace
}  // namespace hca::pcie

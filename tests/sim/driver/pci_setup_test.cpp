#include "sim/driver/pci_setup.h"

#include <gtest/gtest.h>

#include "tests/sim/driver/fake_function.h"

namespace hca::driver {
namespace {

using test::FakeFunction;

TEST(PciSetup, FindsWhatIsThere) {
  FakeFunction function(32);
  const auto found = PciSetup(function).enumerate();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->vendorId, 0x15B3);
  EXPECT_EQ(found->deviceId, 0x1017);
  EXPECT_EQ(found->barSize, 32U << 20);
  EXPECT_EQ(found->vectors, 32U);
  EXPECT_EQ(found->tableOffset, 0x10000U);
  EXPECT_EQ(found->msixCapability, 0x60U);
  EXPECT_EQ(function.configRead(0x04, 2) & 6, 6U) << "decodes memory and masters the bus";
}

TEST(PciSetup, RefusesWhatItCanNotUse) {
  FakeFunction absent;
  absent.set(0x00, 2, 0xFFFF);
  EXPECT_FALSE(PciSetup(absent).enumerate());
  FakeFunction withoutCapabilities;
  withoutCapabilities.set(0x06, 2, 0);
  EXPECT_FALSE(PciSetup(withoutCapabilities).enumerate());
  FakeFunction tableElsewhere;
  tableElsewhere.set(0x64, 4, 0x10002);
  EXPECT_FALSE(PciSetup(tableElsewhere).enumerate());
  FakeFunction circle;
  circle.set(0x40, 2, 0x4010);
  EXPECT_FALSE(PciSetup(circle).enumerate());
}

TEST(PciSetup, ProgramsATableEntryAndUnmasksItLast) {
  FakeFunction function;
  PciSetup setup(function);
  const auto found = setup.enumerate();
  ASSERT_TRUE(found);
  setup.setVector(*found, 3, {BusAddress(0x1'FEE0'1004), 0xA1B2C3D4});
  ASSERT_EQ(function.writes.size(), 4U);
  EXPECT_EQ(function.writes[0].offset, 0x10030U);
  EXPECT_EQ(function.writes[0].bytes, (std::vector<std::uint8_t>{0x04, 0x10, 0xE0, 0xFE}));
  EXPECT_EQ(function.writes[1].bytes, (std::vector<std::uint8_t>{1, 0, 0, 0}));
  EXPECT_EQ(function.writes[2].bytes, (std::vector<std::uint8_t>{0xD4, 0xC3, 0xB2, 0xA1}));
  EXPECT_EQ(function.writes[3].offset, 0x1003CU);
  EXPECT_EQ(function.writes[3].bytes, (std::vector<std::uint8_t>{0, 0, 0, 0}));
  setup.enableMsix(*found, true);
  EXPECT_EQ(function.configRead(0x62, 2) & 0xC000, 0x8000U);
  setup.enableMsix(*found, false);
  EXPECT_EQ(function.configRead(0x62, 2) & 0xC000, 0U);
  setup.disable();
  EXPECT_EQ(function.configRead(0x04, 2) & 6, 0U);
}

}  // namespace
}  // namespace hca::driver

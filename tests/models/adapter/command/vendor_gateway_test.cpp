#include "models/adapter/command/vendor_gateway.h"

#include <gtest/gtest.h>

namespace hca::adapter {
namespace {

// Registers and bits by hand: Linux drivers/net/ethernet/mellanox/mlx5/core/lib/pci_vsc.c.
constexpr std::uint32_t kControl = 0x4, kCounter = 0x8, kLock = 0xC, kAddress = 0x10, kData = 0x14;
constexpr std::uint32_t kFlag = 0x80000000U;

TEST(VendorGateway, IsLockedByATicket) {
  VendorGateway gateway;
  EXPECT_EQ(gateway.readVendorRegister(kLock), 0U);
  const std::uint32_t ticket = gateway.readVendorRegister(kCounter);
  const std::uint32_t other = gateway.readVendorRegister(kCounter);
  EXPECT_NE(ticket, other);
  gateway.writeVendorRegister(kLock, ticket);
  EXPECT_EQ(gateway.readVendorRegister(kLock), ticket);
  gateway.writeVendorRegister(kLock, other);
  EXPECT_EQ(gateway.readVendorRegister(kLock), ticket) << "somebody has it";
  gateway.writeVendorRegister(kLock, 0);
  gateway.writeVendorRegister(kLock, other);
  EXPECT_EQ(gateway.readVendorRegister(kLock), other);
  gateway.reset();
  EXPECT_EQ(gateway.readVendorRegister(kLock), 0U);
}

TEST(VendorGateway, OnlySemaphoresAreThere) {
  VendorGateway gateway;
  gateway.writeVendorRegister(kControl, 0x7);
  EXPECT_EQ(gateway.readVendorRegister(kControl) >> 29, 0U) << "the inner registers aren't";
  gateway.writeVendorRegister(kControl, 0xA);
  EXPECT_NE(gateway.readVendorRegister(kControl) >> 29, 0U);
  EXPECT_EQ(gateway.readVendorRegister(kControl) & 0xFFFF, 0xAU);
}

TEST(VendorGateway, ASemaphoreStaysItsTakers) {
  VendorGateway gateway;
  gateway.writeVendorRegister(kControl, 0xA);
  const auto write = [&](std::uint32_t value) {
    gateway.writeVendorRegister(kData, value);
    gateway.writeVendorRegister(kAddress, 0x20 | kFlag);
    EXPECT_EQ(gateway.readVendorRegister(kAddress) & kFlag, 0U) << "done";
  };
  const auto read = [&] {
    gateway.writeVendorRegister(kAddress, 0x20);
    EXPECT_EQ(gateway.readVendorRegister(kAddress), 0x20 | kFlag) << "done";
    return gateway.readVendorRegister(kData);
  };
  EXPECT_EQ(read(), 0U);
  write(5);
  EXPECT_EQ(read(), 5U);
  write(6);
  EXPECT_EQ(read(), 5U);
  write(0);
  EXPECT_EQ(read(), 0U);
}

}  // namespace
}  // namespace hca::adapter

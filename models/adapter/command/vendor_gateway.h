// The adapter's gateway in configuration space.
#pragma once

#include <cstdint>
#include <map>

#include "models/pcie/vendor_registers.h"

namespace hca::adapter {

/// The vendor-specific capability by which drivers and tools reach an adapter that answers no commands: a lock, a
/// choice of address spaces, an address and a data register. Linux
/// drivers/net/ethernet/mellanox/mlx5/core/lib/pci_vsc.c.
///
/// There is one space, the semaphores. Those that show the adapter's inner registers aren't supported: drivers then
/// take no dump of them. SystemC-free and without time.
class VendorGateway final : public pcie::VendorRegisters {
 public:
  std::uint32_t readVendorRegister(std::uint32_t offset) override;
  void writeVendorRegister(std::uint32_t offset, std::uint32_t value) override;
  /// As after power-on.
  void reset() { *this = VendorGateway(); }

 private:
  void access(std::uint32_t address);

  std::uint32_t space_ = 0;
  std::uint32_t counter_ = 0;
  std::uint32_t lock_ = 0;  // 0: nobody has it
  std::uint32_t address_ = 0;
  std::uint32_t data_ = 0;
  std::map<std::uint32_t, std::uint32_t> semaphores_;
};

}  // namespace hca::adapter

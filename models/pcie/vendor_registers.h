// The registers of a vendor-specific capability.
#pragma once

#include <cstdint>

namespace hca::pcie {

/// What is behind the header of a vendor-specific capability in configuration space (PCI Local Bus 3.0, appendix H).
/// Accesses are of whole 32-bit registers at a multiple of 4.
class VendorRegisters {
 public:
  static constexpr std::uint32_t kSize = 0x18;  ///< bytes of the capability, its header included

  /// `offset` from the capability's start, 4 to kSize - 4.
  virtual std::uint32_t readVendorRegister(std::uint32_t offset) = 0;
  virtual void writeVendorRegister(std::uint32_t offset, std::uint32_t value) = 0;

 protected:
  ~VendorRegisters() = default;
};

}  // namespace hca::pcie

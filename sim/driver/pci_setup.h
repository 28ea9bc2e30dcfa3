// What the operating system does with a PCI function before its driver starts.
#pragma once

#include <cstdint>
#include <optional>

#include "models/host/interrupt_controller.h"
#include "models/pcie/pci_function.h"

namespace hca::driver {

/// Enumerates a function: identity, base address register, MSI-X. Registers: PCI Express Base Specification, 7.5.1
/// (configuration header) and 7.7.2 (MSI-X capability).
class PciSetup {
 public:
  /// `slot`: different for each function of a host.
  explicit PciSetup(pcie::PciFunction& function, std::uint32_t slot = 0) : function_(function), slot_(slot) {}

  struct Found {
    std::uint16_t vendorId = 0;
    std::uint16_t deviceId = 0;
    std::uint64_t barSize = 0;         ///< of BAR 0, as its size mask says
    std::uint32_t vectors = 0;         ///< MSI-X table entries
    std::uint64_t tableOffset = 0;     ///< in BAR 0
    std::uint32_t msixCapability = 0;  ///< configuration offset
  };
  /// Sizes BAR 0 and gives it an address, finds the MSI-X capability, and lets the function decode memory and master
  /// the bus. Empty: nothing there, no memory BAR 0, or no MSI-X table in it.
  std::optional<Found> enumerate();

  /// Programs table entry `vector` and unmasks it.
  void setVector(const Found& found, std::uint32_t vector, const host::MsiMessage& message);
  void enableMsix(const Found& found, bool enabled);
  /// Stops decoding and mastering.
  void disable();

 private:
  std::uint64_t sizeBar();
  [[nodiscard]] std::uint32_t findCapability(std::uint8_t id);
  void writeTable(std::uint64_t offset, std::uint32_t word);

  pcie::PciFunction& function_;
  std::uint32_t slot_;
};

}  // namespace hca::driver

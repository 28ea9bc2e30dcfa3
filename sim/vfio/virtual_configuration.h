// The configuration space that the user of a passed-through function sees.
#pragma once

#include <array>
#include <cstdint>

#include "models/base/byte_view.h"
#include "models/pcie/pci_function.h"

namespace hca::vfio {

/// Between a function and its user, as Linux's vfio-pci does it (drivers/vfio/pci/vfio_pci_config.c): what belongs to
/// the machine is the user's in appearance alone (base addresses, payload size, capability list), what belongs to the
/// machine's interrupt code can't be written (MSI-X), the rest goes through.
class VirtualConfiguration {
 public:
  static constexpr std::uint32_t kSize = 4096;
  /// Of capabilities.
  static constexpr std::uint8_t kPowerId = 0x01, kVendorId = 0x09, kExpressId = 0x10, kMsixId = 0x11;

  explicit VirtualConfiguration(pcie::PciFunction& function);

  /// A user comes: it finds what the function has now.
  void begin();

  /// [offset, offset + size) lies within kSize, as for `write`.
  void read(std::uint32_t offset, MutableByteView into);
  enum class Effect { kNone, kReset };
  /// kReset: the user asked for a function-level reset.
  [[nodiscard]] Effect write(std::uint32_t offset, ByteView bytes);

  /// Whether the function answers accesses to its registers.
  [[nodiscard]] bool decodesMemory() const;
  void setMemoryDecoding(bool isOn);
  void setBusMastering(bool isOn);

  /// Where a capability starts, 0: there is none (PCI Local Bus 3.0, 6.7).
  [[nodiscard]] std::uint32_t find(std::uint8_t id) const;
  [[nodiscard]] std::uint32_t readFunction(std::uint32_t offset, std::uint32_t width) const {
    return function_.configRead(offset, width);
  }
  void writeFunction(std::uint32_t offset, std::uint32_t width, std::uint32_t value) {
    function_.configWrite(offset, width, value);
  }

  /// A function-level reset that leaves the configuration as it is.
  void resetFunction();

 private:
  using Registers = std::array<std::uint8_t, kSize>;

  void allow(Registers& mask, std::uint32_t offset, std::uint32_t width, std::uint32_t bits);
  void describeHeader();
  void describeCapabilities();
  void writePiece(std::uint32_t offset, ByteView bytes);
  [[nodiscard]] Effect actOnExpress(std::uint32_t readRequestBefore);
  void settleBars();
  [[nodiscard]] std::uint32_t shadow(std::uint32_t offset, std::uint32_t width) const;
  void setShadow(std::uint32_t offset, std::uint32_t width, std::uint32_t value);

  pcie::PciFunction& function_;
  Registers virtual_{};   // bits that the user alone has
  Registers writable_{};  // bits that it may write, there or in the function
  Registers shadow_{};    // the user's bits
  std::uint32_t express_ = 0;
  std::uint32_t power_ = 0;
};

}  // namespace hca::vfio

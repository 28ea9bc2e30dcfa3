// The configuration space of one PCI Express function.
#pragma once

#include <array>
#include <cstdint>

#include "models/pcie/pcie_config.h"

namespace hca::pcie {

/// What a function says it is. Vendor and class: pci.ids and Linux include/linux/pci_ids.h.
struct FunctionDescription {
  std::uint16_t vendorId = 0x15B3;
  std::uint16_t deviceId = 0x1017;
  std::uint16_t subsystemVendorId = 0x15B3;
  std::uint16_t subsystemId = 0;
  std::uint8_t revision = 0;
  std::uint32_t classCode = 0x020700;   ///< InfiniBand network controller
  std::uint64_t barSize = 32ULL << 20;  ///< of BAR 0, a power of two of at least 4 KiB
  std::uint32_t msixVectors = 32;       ///< 1 to 2048
  std::uint32_t msixTableOffset = 0;    ///< in BAR 0, a multiple of 8
  std::uint32_t msixPendingOffset = 0;  ///< in BAR 0, a multiple of 8
  bool hasVendorRegisters = false;      ///< VendorRegisters, whose values whoever has the space asks for
};

/// A type 0 header with one 64-bit prefetchable base address register, and the capabilities PCI Express (with
/// function-level reset), MSI-X and power management (PCI Express Base Specification, 7.5 and 7.7). SystemC-free.
/// Values are little-endian in the low bytes of a word.
class ConfigurationSpace {
 public:
  static constexpr std::uint32_t kSize = 4096;
  static constexpr std::uint32_t kPowerManagement = 0x40;
  static constexpr std::uint32_t kExpress = 0x60;
  static constexpr std::uint32_t kMsix = 0x9C;
  static constexpr std::uint32_t kVendor = 0xC0;

  /// Throws std::invalid_argument for a description that the registers can't hold.
  ConfigurationSpace(const FunctionDescription& description, const PcieConfig& config);

  /// `width` 1, 2 or 4. Reserved registers read 0; what isn't wholly inside, or has another width, reads all ones.
  [[nodiscard]] std::uint32_t read(std::uint32_t offset, std::uint32_t width) const;
  enum class Effect { kNone, kMsixControl, kReset };
  /// Writes what is writable; what isn't wholly inside is ignored. kReset: the caller resets the function.
  Effect write(std::uint32_t offset, std::uint32_t width, std::uint32_t value);
  /// As after power-on.
  void reset();

  /// Memory space is enabled and the function is in D0.
  [[nodiscard]] bool decodesMemory() const { return decodesMemory_; }
  /// Bus mastering is enabled and the function is in D0.
  [[nodiscard]] bool mastersBus() const { return mastersBus_; }
  [[nodiscard]] bool interruptPinDisabled() const;
  [[nodiscard]] bool msixEnabled() const;
  [[nodiscard]] bool msixFunctionMasked() const;
  [[nodiscard]] bool relaxedOrderingEnabled() const { return relaxedOrdering_; }
  [[nodiscard]] std::uint32_t maxPayload() const { return maxPayload_; }
  [[nodiscard]] std::uint32_t maxReadRequest() const { return maxReadRequest_; }
  [[nodiscard]] std::uint64_t barSize() const { return barSize_; }
  /// What software programmed; 0 after reset.
  [[nodiscard]] std::uint64_t barAddress() const;

 private:
  using Bytes4K = std::array<std::uint8_t, kSize>;

  void describeHeader(const FunctionDescription& description);
  void describeExpress(const PcieConfig& config);
  void describeMsix(const FunctionDescription& description);
  void describePowerManagement(const FunctionDescription& description);
  void put(std::uint32_t offset, std::uint32_t width, std::uint32_t value, std::uint32_t writable = 0);
  void refresh();  // what is asked for often, taken out of the registers

  Bytes4K initial_{};
  Bytes4K writable_{};
  Bytes4K now_{};
  std::uint64_t barSize_;
  std::uint32_t maxPayloadSupported_;
  std::uint32_t maxPayload_ = 0;
  std::uint32_t maxReadRequest_ = 0;
  bool decodesMemory_ = false;
  bool mastersBus_ = false;
  bool relaxedOrdering_ = false;
};

}  // namespace hca::pcie

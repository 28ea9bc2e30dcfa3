#include "sim/driver/pci_setup.h"

namespace hca::driver {
namespace {

constexpr std::uint32_t kVendorId = 0x00;
constexpr std::uint32_t kDeviceId = 0x02;
constexpr std::uint32_t kCommand = 0x04;
constexpr std::uint32_t kStatus = 0x06;
constexpr std::uint32_t kBar0 = 0x10;
constexpr std::uint32_t kCapabilities = 0x34;

constexpr std::uint32_t kCommandMemorySpace = 1U << 1;
constexpr std::uint32_t kCommandBusMaster = 1U << 2;
constexpr std::uint32_t kStatusCapabilities = 1U << 4;
constexpr std::uint32_t kBarIo = 1U << 0;
constexpr std::uint32_t kBarTypeMask = 3U << 1;
constexpr std::uint32_t kBarType64 = 2U << 1;
constexpr std::uint32_t kBarFlags = 0xF;

constexpr std::uint8_t kMsixId = 0x11;
constexpr std::uint32_t kMsixEnable = 1U << 15;
constexpr std::uint32_t kMsixFunctionMask = 1U << 14;
constexpr std::uint32_t kMsixTableSize = 0x7FF;
constexpr std::uint32_t kBarIndicator = 7;
constexpr std::uint64_t kTableEntry = 16;

// From here on, at these distances: apart from memory, and aligned for any size that a function may ask for.
constexpr std::uint64_t kWideBars = std::uint64_t{1} << 40;
constexpr std::uint64_t kWideDistance = std::uint64_t{1} << 36;
constexpr std::uint64_t kNarrowBars = std::uint64_t{1} << 31;
constexpr std::uint64_t kNarrowDistance = std::uint64_t{1} << 27;

}  // namespace

std::optional<PciSetup::Found> PciSetup::enumerate() {
  Found found;
  found.vendorId = static_cast<std::uint16_t>(function_.configRead(kVendorId, 2));
  if (found.vendorId == 0xFFFF || found.vendorId == 0) return std::nullopt;
  found.deviceId = static_cast<std::uint16_t>(function_.configRead(kDeviceId, 2));
  found.barSize = sizeBar();
  if (found.barSize == 0) return std::nullopt;

  found.msixCapability = findCapability(kMsixId);
  if (found.msixCapability == 0) return std::nullopt;
  found.vectors = (function_.configRead(found.msixCapability + 2, 2) & kMsixTableSize) + 1;
  const std::uint32_t table = function_.configRead(found.msixCapability + 4, 4);
  if ((table & kBarIndicator) != 0) return std::nullopt;
  found.tableOffset = table & ~kBarIndicator;

  const std::uint32_t command = function_.configRead(kCommand, 2);
  function_.configWrite(kCommand, 2, command | kCommandMemorySpace | kCommandBusMaster);
  return found;
}

// Decoding is off while the register holds the size mask (specification, implementation note "Sizing a Base Address
// Register").
std::uint64_t PciSetup::sizeBar() {
  const std::uint32_t command = function_.configRead(kCommand, 2);
  function_.configWrite(kCommand, 2, command & ~(kCommandMemorySpace | kCommandBusMaster));
  const std::uint32_t flags = function_.configRead(kBar0, 4) & kBarFlags;
  if ((flags & kBarIo) != 0) return 0;
  const bool wide = (flags & kBarTypeMask) == kBarType64;
  function_.configWrite(kBar0, 4, 0xFFFFFFFF);
  std::uint64_t mask = function_.configRead(kBar0, 4) & ~kBarFlags;
  if (wide) {
    function_.configWrite(kBar0 + 4, 4, 0xFFFFFFFF);
    mask |= std::uint64_t{function_.configRead(kBar0 + 4, 4)} << 32;
  } else if (mask != 0) {
    mask |= 0xFFFFFFFF00000000;
  }
  const std::uint64_t address = wide ? kWideBars + slot_ * kWideDistance : kNarrowBars + slot_ * kNarrowDistance;
  function_.configWrite(kBar0, 4, static_cast<std::uint32_t>(address));
  if (wide) function_.configWrite(kBar0 + 4, 4, static_cast<std::uint32_t>(address >> 32));
  return mask == 0 ? 0 : ~mask + 1;
}

std::uint32_t PciSetup::findCapability(std::uint8_t id) {
  if ((function_.configRead(kStatus, 2) & kStatusCapabilities) == 0) return 0;
  std::uint32_t at = function_.configRead(kCapabilities, 1) & ~3U;
  // A list longer than configuration space has room for goes in circles.
  for (unsigned steps = 0; at != 0 && steps < 48; ++steps) {
    if (function_.configRead(at, 1) == id) return at;
    at = function_.configRead(at + 1, 1) & ~3U;
  }
  return 0;
}

void PciSetup::writeTable(std::uint64_t offset, std::uint32_t word) {
  const std::uint8_t bytes[4] = {static_cast<std::uint8_t>(word), static_cast<std::uint8_t>(word >> 8),
                                 static_cast<std::uint8_t>(word >> 16), static_cast<std::uint8_t>(word >> 24)};
  function_.barWrite(0, offset, {bytes, sizeof bytes});
}

void PciSetup::setVector(const Found& found, std::uint32_t vector, const host::MsiMessage& message) {
  const std::uint64_t entry = found.tableOffset + vector * kTableEntry;
  writeTable(entry, static_cast<std::uint32_t>(message.address.value()));
  writeTable(entry + 4, static_cast<std::uint32_t>(message.address.value() >> 32));
  writeTable(entry + 8, message.data);
  writeTable(entry + 12, 0);
}

void PciSetup::enableMsix(const Found& found, bool enabled) {
  std::uint32_t control = function_.configRead(found.msixCapability + 2, 2);
  control &= ~(kMsixEnable | kMsixFunctionMask);
  if (enabled) control |= kMsixEnable;
  function_.configWrite(found.msixCapability + 2, 2, control);
}

void PciSetup::disable() {
  const std::uint32_t command = function_.configRead(kCommand, 2);
  function_.configWrite(kCommand, 2, command & ~(kCommandMemorySpace | kCommandBusMaster));
}

}  // namespace hca::driver

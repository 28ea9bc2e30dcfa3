#include "sim/vfio/virtual_configuration.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace hca::vfio {
namespace {

// Type 0 header, PCI Local Bus 3.0, 6.1.
constexpr std::uint32_t kVendor = 0x00, kCommand = 0x04, kStatus = 0x06, kCacheLine = 0x0C, kLatency = 0x0D;
constexpr std::uint32_t kSelfTest = 0x0F, kBars = 0x10, kRom = 0x30, kCapabilities = 0x34, kInterruptLine = 0x3C,
                        kPin = 0x3D;
constexpr std::uint32_t kHeaderSize = 0x40;
constexpr std::uint32_t kMemorySpace = 1U << 1, kBusMaster = 1U << 2, kPinDisable = 1U << 10;
constexpr std::uint32_t kHasCapabilities = 1U << 4;
constexpr unsigned kBarCount = 6;

// Capabilities.
constexpr std::uint32_t kPowerCapabilities = 2, kPowerControl = 4;
constexpr std::uint32_t kWakeUpSupport = 0xF800, kWakeUpEnable = 1U << 8, kWakeUpStatus = 1U << 15, kPowerState = 3;
constexpr std::uint32_t kDeviceControl = 0x08, kLinkControl = 0x10, kDeviceControl2 = 0x28;
constexpr std::uint32_t kReset = 1U << 15, kPayload = 7U << 5, kReadRequest = 7U << 12, kPhantom = 1U << 9;
constexpr std::uint32_t kAriForwarding = 1U << 5;
constexpr unsigned kPayloadShift = 5, kReadRequestShift = 12;
constexpr std::uint32_t kMsixControl = 2, kVendorLength = 2;

// A naturally aligned piece at the start of [offset, offset + left).
std::uint32_t pieceAt(std::uint32_t offset, std::size_t left) {
  if (left >= 4 && offset % 4 == 0) return 4;
  return left >= 2 && offset % 2 == 0 ? 2 : 1;
}

}  // namespace

VirtualConfiguration::VirtualConfiguration(pcie::PciFunction& function)
    : function_(function), express_(find(kExpressId)), power_(find(kPowerId)) {
  describeHeader();
  describeCapabilities();
}

std::uint32_t VirtualConfiguration::find(std::uint8_t id) const {
  constexpr unsigned kMost = 48;  // as many as fit: a longer list goes in circles
  std::uint32_t at = function_.configRead(kCapabilities, 1) & ~3U;
  for (unsigned steps = 0; at != 0 && steps < kMost; ++steps) {
    if (function_.configRead(at, 1) == id) return at;
    at = function_.configRead(at + 1, 1) & ~3U;
  }
  return 0;
}

void VirtualConfiguration::allow(Registers& mask, std::uint32_t offset, std::uint32_t width, std::uint32_t bits) {
  for (std::uint32_t i = 0; i < width; ++i) mask[offset + i] |= static_cast<std::uint8_t>(bits >> (8 * i));
}

void VirtualConfiguration::describeHeader() {
  allow(virtual_, kVendor, 4, ~0U);
  allow(virtual_, kCommand, 2, kPinDisable);
  allow(writable_, kCommand, 2, 0xFFFF);
  allow(virtual_, kStatus, 2, kHasCapabilities);
  for (const std::uint32_t offset : {kCacheLine, kLatency, kSelfTest}) allow(writable_, offset, 1, 0xFF);
  for (unsigned bar = 0; bar < kBarCount; ++bar) {
    allow(virtual_, kBars + 4 * bar, 4, ~0U);
    allow(writable_, kBars + 4 * bar, 4, ~0U);
  }
  allow(virtual_, kRom, 4, ~0U);
  allow(writable_, kRom, 4, ~0U);
  allow(virtual_, kCapabilities, 1, 0xFF);
  allow(virtual_, kInterruptLine, 1, 0xFF);
  allow(writable_, kInterruptLine, 1, 0xFF);
  allow(virtual_, kPin, 1, 0xFF);
}

void VirtualConfiguration::describeCapabilities() {
  for (const std::uint32_t capability : {express_, power_}) {
    if (capability != 0) allow(virtual_, capability + 1, 1, 0xFF);
  }
  if (power_ != 0) {
    allow(virtual_, power_ + kPowerCapabilities, 2, kWakeUpSupport);
    allow(virtual_, power_ + kPowerControl, 2, kWakeUpEnable | kWakeUpStatus);
    allow(writable_, power_ + kPowerControl, 2, kPowerState);
  }
  if (const std::uint32_t vendor = find(kVendorId); vendor != 0) {
    const std::uint32_t length = function_.configRead(vendor + kVendorLength, 1);
    for (std::uint32_t at = 4; at < length && vendor + at < kSize; ++at) allow(writable_, vendor + at, 1, 0xFF);
  }
  if (express_ == 0) return;
  allow(virtual_, express_ + kDeviceControl, 2, kReset | kPayload | kReadRequest);
  allow(writable_, express_ + kDeviceControl, 2, 0xFFFF & ~kPhantom);
  allow(writable_, express_ + kDeviceControl2, 2, 0xFFFF & ~kAriForwarding);
}

std::uint32_t VirtualConfiguration::shadow(std::uint32_t offset, std::uint32_t width) const {
  std::uint32_t value = 0;
  for (std::uint32_t i = 0; i < width; ++i) value |= std::uint32_t{shadow_[offset + i]} << (8 * i);
  return value;
}

void VirtualConfiguration::setShadow(std::uint32_t offset, std::uint32_t width, std::uint32_t value) {
  for (std::uint32_t i = 0; i < width; ++i) shadow_[offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

// Nobody is woken up by the function, and it has no interrupt pin.
void VirtualConfiguration::begin() {
  shadow_ = {};
  for (std::uint32_t at = 0; at < kHeaderSize; at += 4) setShadow(at, 4, function_.configRead(at, 4));
  setShadow(kPin, 1, 0);
  for (const std::uint32_t capability : {express_, power_}) {
    if (capability != 0) setShadow(capability, 4, function_.configRead(capability, 4));
  }
  if (power_ != 0) setShadow(power_ + kPowerCapabilities, 2, 0);
  if (express_ != 0) {
    const std::uint32_t control = function_.configRead(express_ + kDeviceControl, 2);
    setShadow(express_ + kDeviceControl, 2, control & ~kReset);
  }
  settleBars();
}

// What was written are addresses, of which the low bits are fixed (PCI Local Bus 3.0, 6.2.5.1).
void VirtualConfiguration::settleBars() {
  constexpr std::uint32_t kFlags = 0xF, kWide = 1U << 2;
  setShadow(kRom, 4, 0);
  for (unsigned bar = 0; bar < kBarCount; ++bar) {
    const std::uint32_t at = kBars + 4 * bar;
    const std::uint64_t size = function_.barSize(bar);
    const std::uint32_t flags = function_.configRead(at, 4) & kFlags;
    if (size == 0) {
      setShadow(at, 4, 0);
      continue;
    }
    const std::uint64_t mask = ~(size - 1);
    setShadow(at, 4, (shadow(at, 4) & static_cast<std::uint32_t>(mask)) | flags);
    if ((flags & kWide) == 0) continue;
    ++bar;
    setShadow(at + 4, 4, shadow(at + 4, 4) & static_cast<std::uint32_t>(mask >> 32));
  }
}

void VirtualConfiguration::read(std::uint32_t offset, MutableByteView into) {
  for (std::size_t done = 0; done < into.size();) {
    const std::uint32_t at = offset + static_cast<std::uint32_t>(done);
    const std::uint32_t width = pieceAt(at, into.size() - done);
    const std::uint32_t own = function_.configRead(at, width);
    for (std::uint32_t i = 0; i < width; ++i) {
      const auto byte = static_cast<std::uint8_t>(own >> (8 * i));
      const std::uint8_t mask = virtual_[at + i];
      into[done + i] = static_cast<std::uint8_t>((shadow_[at + i] & mask) | (byte & ~mask));
    }
    done += width;
  }
}

void VirtualConfiguration::writePiece(std::uint32_t offset, ByteView bytes) {
  const auto width = static_cast<std::uint32_t>(bytes.size());
  std::uint32_t through = 0;  // bits that the function gets
  std::uint32_t value = 0;
  for (std::uint32_t i = 0; i < width; ++i) {
    const std::uint32_t at = offset + i;
    const std::uint8_t own = virtual_[at] & writable_[at];
    shadow_[at] = static_cast<std::uint8_t>((shadow_[at] & ~own) | (bytes[i] & own));
    through |= std::uint32_t{static_cast<std::uint8_t>(writable_[at] & ~virtual_[at])} << (8 * i);
    value |= std::uint32_t{bytes[i]} << (8 * i);
  }
  if (through == 0) return;
  const std::uint32_t whole = width == 4 ? ~0U : (1U << (8 * width)) - 1;
  const std::uint32_t kept = through == whole ? 0 : function_.configRead(offset, width) & ~through;
  function_.configWrite(offset, width, kept | (value & through));
}

VirtualConfiguration::Effect VirtualConfiguration::write(std::uint32_t offset, ByteView bytes) {
  const std::uint32_t readRequest = express_ == 0 ? 0 : shadow(express_ + kDeviceControl, 2) & kReadRequest;
  for (std::size_t done = 0; done < bytes.size();) {
    const std::uint32_t at = offset + static_cast<std::uint32_t>(done);
    const std::uint32_t width = pieceAt(at, bytes.size() - done);
    writePiece(at, {bytes.data() + done, width});
    done += width;
  }
  settleBars();
  return express_ == 0 ? Effect::kNone : actOnExpress(readRequest);
}

// Read requests are never shorter than payloads: the user can't see what the machine needs.
VirtualConfiguration::Effect VirtualConfiguration::actOnExpress(std::uint32_t readRequestBefore) {
  const std::uint32_t at = express_ + kDeviceControl;
  const std::uint32_t control = shadow(at, 2);
  if ((control & kReadRequest) != readRequestBefore) {
    const std::uint32_t own = function_.configRead(at, 2);
    const std::uint32_t payload = (own & kPayload) >> kPayloadShift;
    const std::uint32_t wanted = std::max((control & kReadRequest) >> kReadRequestShift, payload);
    function_.configWrite(at, 2, (own & ~(kReadRequest | kReset)) | wanted << kReadRequestShift);
  }
  if ((control & kReset) == 0) return Effect::kNone;
  setShadow(at, 2, control & ~kReset);
  return Effect::kReset;
}

bool VirtualConfiguration::decodesMemory() const {
  const bool isPowered = power_ == 0 || (function_.configRead(power_ + kPowerControl, 2) & kPowerState) == 0;
  return isPowered && (function_.configRead(kCommand, 2) & kMemorySpace) != 0;
}

void VirtualConfiguration::setMemoryDecoding(bool isOn) {
  const std::uint32_t command = function_.configRead(kCommand, 2);
  function_.configWrite(kCommand, 2, isOn ? command | kMemorySpace : command & ~kMemorySpace);
}

void VirtualConfiguration::setBusMastering(bool isOn) {
  const std::uint32_t command = function_.configRead(kCommand, 2);
  function_.configWrite(kCommand, 2, isOn ? command | kBusMaster : command & ~kBusMaster);
}

void VirtualConfiguration::resetFunction() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> kept;
  const auto keep = [&](std::uint32_t offset) { kept.emplace_back(offset, function_.configRead(offset, 2)); };
  for (unsigned half = 0; half < 2 * kBarCount; ++half) keep(kBars + 2 * half);
  keep(kCacheLine);
  keep(kInterruptLine);
  if (express_ != 0) {
    for (const std::uint32_t offset : {kDeviceControl, kLinkControl, kDeviceControl2}) keep(express_ + offset);
  }
  if (const std::uint32_t msix = find(kMsixId); msix != 0) keep(msix + kMsixControl);
  keep(kCommand);
  function_.reset();
  for (const auto& [offset, value] : kept) function_.configWrite(offset, 2, value);
}

}  // namespace hca::vfio

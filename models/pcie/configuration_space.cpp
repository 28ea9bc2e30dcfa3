#include "models/pcie/configuration_space.h"

#include <algorithm>
#include <stdexcept>

#include "models/pcie/vendor_registers.h"

namespace hca::pcie {

namespace {

// Type 0 header.
constexpr std::uint32_t kCommand = 0x04;
constexpr std::uint32_t kBar0 = 0x10;
constexpr std::uint32_t kMemorySpace = 1U << 1;
constexpr std::uint32_t kBusMaster = 1U << 2;
constexpr std::uint32_t kInterruptPinDisable = 1U << 10;
constexpr std::uint32_t kCommandWritable = kMemorySpace | kBusMaster | kInterruptPinDisable | 1U << 6 | 1U << 8;
constexpr std::uint32_t kStatusCapabilities = 1U << 4;
constexpr std::uint32_t kBarFlags = 0xC;  // memory, 64 bits, prefetchable

// PCI Express capability, offsets from its start.
constexpr std::uint32_t kDeviceControl = ConfigurationSpace::kExpress + 0x08;
constexpr std::uint32_t kRelaxedOrdering = 1U << 4;
constexpr unsigned kMaxPayloadShift = 5;
constexpr unsigned kMaxReadShift = 12;
constexpr std::uint32_t kSizeField = 7;
constexpr std::uint32_t kInitiateReset = 1U << 15;

constexpr std::uint32_t kMessageControl = ConfigurationSpace::kMsix + 2;
constexpr std::uint32_t kMsixEnable = 1U << 15;
constexpr std::uint32_t kMsixFunctionMask = 1U << 14;

constexpr std::uint32_t kPowerControl = ConfigurationSpace::kPowerManagement + 4;
constexpr std::uint32_t kPowerState = 3;
constexpr std::uint32_t kD0 = 0;
constexpr std::uint32_t kD3Hot = 3;

std::uint32_t allOnes(std::uint32_t width) { return width >= 4 ? ~0U : (1U << (8 * width)) - 1; }
bool isInside(std::uint32_t offset, std::uint32_t width) {
  return (width == 1 || width == 2 || width == 4) && offset <= ConfigurationSpace::kSize - width;
}

// 128 << code.
std::uint32_t sizeCode(std::int64_t bytes) {
  std::uint32_t code = 0;
  while ((std::int64_t{128} << code) < bytes) ++code;
  return code;
}
std::uint32_t sizeOf(std::uint32_t code) { return 128U << std::min(code, 5U); }

void check(const FunctionDescription& description) {
  const std::uint64_t size = description.barSize;
  if (size < 4096 || (size & (size - 1)) != 0) throw std::invalid_argument("pcie: BAR size must be a power of two");
  if (description.msixVectors < 1 || description.msixVectors > 2048) {
    throw std::invalid_argument("pcie: MSI-X tables have 1 to 2048 entries");
  }
  if (description.msixTableOffset % 8 != 0 || description.msixPendingOffset % 8 != 0) {
    throw std::invalid_argument("pcie: MSI-X structures lie at multiples of 8 bytes");
  }
}

}  // namespace

ConfigurationSpace::ConfigurationSpace(const FunctionDescription& description, const PcieConfig& config)
    : barSize_(description.barSize), maxPayloadSupported_(static_cast<std::uint32_t>(config.maxPayload.count())) {
  check(description);
  describeHeader(description);
  describeExpress(config);
  describeMsix(description);
  describePowerManagement(description);
  reset();
}

void ConfigurationSpace::put(std::uint32_t offset, std::uint32_t width, std::uint32_t value, std::uint32_t writable) {
  for (std::uint32_t i = 0; i < width; ++i) {
    initial_[offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
    writable_[offset + i] = static_cast<std::uint8_t>(writable >> (8 * i));
  }
}

void ConfigurationSpace::describeHeader(const FunctionDescription& description) {
  put(0x00, 2, description.vendorId);
  put(0x02, 2, description.deviceId);
  put(kCommand, 2, 0, kCommandWritable);
  put(0x06, 2, kStatusCapabilities);
  put(0x08, 4, description.revision | description.classCode << 8);
  put(0x0C, 1, 0, 0xFF);  // cache line size: software's to write, without effect
  const std::uint64_t mask = ~(description.barSize - 1);
  put(kBar0, 4, kBarFlags, static_cast<std::uint32_t>(mask));
  put(kBar0 + 4, 4, 0, static_cast<std::uint32_t>(mask >> 32));
  put(0x2C, 2, description.subsystemVendorId);
  put(0x2E, 2, description.subsystemId);
  put(0x34, 1, kExpress);
  put(0x3C, 1, 0, 0xFF);  // interrupt line: likewise. There is no interrupt pin: MSI-X alone
}

void ConfigurationSpace::describeExpress(const PcieConfig& config) {
  const auto speed = static_cast<std::uint32_t>(config.generation);
  const auto width = static_cast<std::uint32_t>(config.width);
  const std::uint32_t payload = sizeCode(config.maxPayload.count());
  const std::uint32_t readRequest = sizeCode(config.maxReadRequest.count());
  put(kExpress, 1, 0x10);
  put(kExpress + 1, 1, kMsix);
  put(kExpress + 2, 2, 2);  // version 2, endpoint
  // Extended tags, role-based error reporting, function-level reset.
  put(kExpress + 4, 4, payload | 1U << 5 | 1U << 15 | 1U << 28);
  // Relaxed ordering, extended tags and no-snoop are on, as after power-on.
  put(kDeviceControl, 2,
      kRelaxedOrdering | payload << kMaxPayloadShift | 1U << 8 | 1U << 11 | readRequest << kMaxReadShift, 0x7FFF);
  put(kExpress + 0x0C, 4, speed | width << 4);
  const std::uint32_t completionBoundary = config.readCompletionBoundary == Bytes(128) ? 1U << 3 : 0;
  put(kExpress + 0x10, 2, completionBoundary, 0x0043);
  put(kExpress + 0x12, 2, speed | width << 4 | 1U << 12);
  put(kExpress + 0x2C, 4, ((1U << speed) - 1) << 1);  // all link speeds up to this one
  put(kExpress + 0x30, 2, speed, 0x000F);
}

void ConfigurationSpace::describeMsix(const FunctionDescription& description) {
  put(kMsix, 1, 0x11);
  put(kMsix + 1, 1, kPowerManagement);
  put(kMessageControl, 2, description.msixVectors - 1, kMsixEnable | kMsixFunctionMask);
  put(kMsix + 4, 4, description.msixTableOffset);
  put(kMsix + 8, 4, description.msixPendingOffset);
}

void ConfigurationSpace::describePowerManagement(const FunctionDescription& description) {
  put(kPowerManagement, 1, 0x01);
  put(kPowerManagement + 1, 1, description.hasVendorRegisters ? kVendor : 0);
  put(kPowerManagement + 2, 2, 3);              // version 3, no power events
  put(kPowerControl, 2, 1U << 3, kPowerState);  // leaving D3hot keeps the state
  if (!description.hasVendorRegisters) return;
  put(kVendor, 1, 0x09);
  put(kVendor + 2, 1, VendorRegisters::kSize);
}

void ConfigurationSpace::reset() {
  now_ = initial_;
  refresh();
}

std::uint32_t ConfigurationSpace::read(std::uint32_t offset, std::uint32_t width) const {
  if (!isInside(offset, width)) return allOnes(width);
  std::uint32_t value = 0;
  for (std::uint32_t i = 0; i < width; ++i) value |= std::uint32_t{now_[offset + i]} << (8 * i);
  return value;
}

ConfigurationSpace::Effect ConfigurationSpace::write(std::uint32_t offset, std::uint32_t width, std::uint32_t value) {
  if (!isInside(offset, width)) return Effect::kNone;
  const std::uint32_t powerBefore = read(kPowerControl, 1) & kPowerState;
  const std::uint32_t msixBefore = read(kMessageControl, 2);
  const bool writesReset = offset <= kDeviceControl + 1 && offset + width > kDeviceControl + 1 &&
                           ((value >> (8 * (kDeviceControl + 1 - offset))) & (kInitiateReset >> 8)) != 0;
  for (std::uint32_t i = 0; i < width; ++i) {
    std::uint8_t& byte = now_[offset + i];
    const std::uint8_t mask = writable_[offset + i];
    byte = static_cast<std::uint8_t>((byte & ~mask) | ((value >> (8 * i)) & mask));
  }
  // D1 and D2 aren't there: asking for them changes nothing.
  const std::uint32_t power = read(kPowerControl, 1) & kPowerState;
  if (power != kD0 && power != kD3Hot) {
    now_[kPowerControl] = static_cast<std::uint8_t>((now_[kPowerControl] & ~kPowerState) | powerBefore);
  }
  refresh();
  if (writesReset) return Effect::kReset;
  return read(kMessageControl, 2) != msixBefore ? Effect::kMsixControl : Effect::kNone;
}

// A payload size above the supported one is the supported one.
void ConfigurationSpace::refresh() {
  const std::uint32_t command = read(kCommand, 2);
  const std::uint32_t control = read(kDeviceControl, 2);
  const bool powered = (read(kPowerControl, 1) & kPowerState) == kD0;
  decodesMemory_ = powered && (command & kMemorySpace) != 0;
  mastersBus_ = powered && (command & kBusMaster) != 0;
  relaxedOrdering_ = (control & kRelaxedOrdering) != 0;
  maxPayload_ = std::min(sizeOf(control >> kMaxPayloadShift & kSizeField), maxPayloadSupported_);
  maxReadRequest_ = sizeOf(control >> kMaxReadShift & kSizeField);
}

bool ConfigurationSpace::interruptPinDisabled() const { return (read(kCommand, 2) & kInterruptPinDisable) != 0; }
bool ConfigurationSpace::msixEnabled() const { return (read(kMessageControl, 2) & kMsixEnable) != 0; }
bool ConfigurationSpace::msixFunctionMasked() const { return (read(kMessageControl, 2) & kMsixFunctionMask) != 0; }

std::uint64_t ConfigurationSpace::barAddress() const {
  return (std::uint64_t{read(kBar0 + 4, 4)} << 32 | read(kBar0, 4)) & ~std::uint64_t{0xF};
}

}  // namespace hca::pcie

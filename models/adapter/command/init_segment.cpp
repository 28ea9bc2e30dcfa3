#include "models/adapter/command/init_segment.h"

#include "models/wire/driver_timeout.h"
#include "models/wire/endian.h"
#include "models/wire/mmio_map.h"

namespace hca::adapter {
namespace {

using Map = wire::InitSegment;

constexpr std::uint32_t kQueueAddressMask = 0xFFFFF000;
constexpr unsigned kInterfaceShift = 8;
constexpr std::uint32_t kInterfaceMask = 7;
constexpr std::uint32_t kInitializingBit = 1U << 31;
constexpr std::uint32_t kResetSupportedBit = 1U << 30;  // by NicInterface::kSoftwareReset
constexpr std::uint32_t kHealthCounterMask = 0xFFFFFF;
constexpr std::uint32_t kResetBit = 1U << 31;  // of rfr_severity
constexpr Time kInitialisation = milliseconds(2000);

}  // namespace

InitSegment::InitSegment(const AdapterIdentity& identity, const AdapterClock& clock, Time healthPeriod,
                         Time commandTimeout)
    : firmwareRevision_((std::uint32_t{identity.firmwareMinor} << 16) | identity.firmwareMajor),
      firmwareSubminor_(identity.firmwareSubminor),
      hardwareId_(identity.hardwareId),
      clock_(clock),
      healthPeriod_(healthPeriod),
      commandTimeout_(commandTimeout) {}

void InitSegment::read(std::uint64_t offset, MutableByteView into, Time now, bool ready,
                       std::uint32_t pendingSlots) const {
  constexpr std::uint64_t kRegister = 4;
  for (std::size_t n = 0; n < into.size(); ++n) {
    const std::uint64_t at = offset + n;
    std::uint8_t bytes[kRegister];
    wire::storeBigEndian(bytes, registerAt(at - at % kRegister, now, ready, pendingSlots));
    into[n] = bytes[at % kRegister];
  }
}

RegisterEffect InitSegment::write(std::uint64_t offset, std::uint32_t value) {
  switch (offset) {
    case Map::kCommandQueueHigh:
      queueHigh_ = value;
      return {};
    case Map::kCommandQueueLow:
      return writeQueueLow(value);
    case Map::kCommandDoorbell:
      return {RegisterEffect::Kind::kDoorbell, value};
    default:
      return {RegisterEffect::Kind::kIgnored, 0};
  }
}

RegisterEffect InitSegment::writeQueueLow(std::uint32_t value) {
  const auto wanted = static_cast<NicInterface>((value >> kInterfaceShift) & kInterfaceMask);
  switch (wanted) {
    case NicInterface::kFullDriver:
      queueLow_ = value & kQueueAddressMask;
      queueWritten_ = true;
      interface_ = NicInterface::kFullDriver;
      return {};
    case NicInterface::kSoftwareReset:  // the firmware starts anew, and a driver that asked for it waits for that
      setHealthSyndrome(0);
      stoppedCounter_.reset();
      [[fallthrough]];
    case NicInterface::kDisabled:
      interface_ = NicInterface::kDisabled;
      return {RegisterEffect::Kind::kDisable, 0};
    default:
      return {RegisterEffect::Kind::kIgnored, 0};
  }
}

void InitSegment::reset() {
  queueHigh_ = 0;
  queueLow_ = 0;
  queueWritten_ = false;
  interface_ = NicInterface::kFullDriver;
  healthSyndrome_ = 0;
  asksForReset_ = false;
  stoppedCounter_.reset();
}

void InitSegment::stopHealthCounter(bool stopped, Time now) {
  stoppedCounter_.reset();
  if (stopped) stoppedCounter_ = healthCounter(now);
}

std::uint32_t InitSegment::healthCounter(Time now) const {
  return stoppedCounter_.value_or(static_cast<std::uint32_t>(now.count() / healthPeriod_.count()) & kHealthCounterMask);
}

std::uint32_t InitSegment::registerAt(std::uint64_t offset, Time now, bool ready, std::uint32_t pendingSlots) const {
  if (offset >= Map::kHealthBuffer && offset < Map::kHealthBuffer + wire::HealthBuffer::kSize) {
    return healthRegister(offset - Map::kHealthBuffer);
  }
  switch (offset) {
    case Map::kFirmwareRevision:
      return firmwareRevision_;
    case Map::kCommandRevision:
      return (Map::kSupportedCommandRevision << 16) | firmwareSubminor_;
    case Map::kCommandQueueHigh:
      return queueHigh_;
    case Map::kCommandQueueLow:
      return queueLow_ | (static_cast<std::uint32_t>(interface_) << kInterfaceShift) | (kLogEntries << 4) | kLogStride;
    case Map::kCommandDoorbell:
      return pendingSlots;
    case Map::kInitializing:
      return kResetSupportedBit | (ready ? 0 : kInitializingBit);
    case Map::kInternalTimerHigh:
      return static_cast<std::uint32_t>(clock_.ticks(now) >> 32);
    case Map::kInternalTimerLow:
      return static_cast<std::uint32_t>(clock_.ticks(now));
    case Map::kHealthCounter:
      return healthCounter(now);
    case Map::kInitialisationTimeout:  // the stock driver's own figure; 0 would say that nothing is told
      return commandTimeout_ == Time(0) ? 0 : wire::DriverTimeout::word(kInitialisation);
    case Map::kCommandTimeout:
      return wire::DriverTimeout::word(commandTimeout_);
    case Map::kRealTimeHigh:
      return static_cast<std::uint32_t>(clock_.realTime(now) >> 32);
    case Map::kRealTimeLow:
      return static_cast<std::uint32_t>(clock_.realTime(now));
    default:
      return 0;
  }
}

std::uint32_t InitSegment::healthRegister(std::uint64_t offset) const {
  switch (offset) {
    case wire::HealthBuffer::kFirmwareVersion:
      return firmwareRevision_;
    case wire::HealthBuffer::kHardwareId:
      return hardwareId_;
    case wire::HealthBuffer::kSeverity:
      return asksForReset_ ? kResetBit : 0;
    case wire::HealthBuffer::kSyndrome:
      return std::uint32_t{healthSyndrome_} << 16;
    default:
      return 0;
  }
}

}  // namespace hca::adapter

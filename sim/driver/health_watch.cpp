#include "sim/driver/health_watch.h"

#include <string>
#include <utility>

#include "models/wire/mmio_map.h"
#include "sim/driver/device_registers.h"

namespace hca::driver {
namespace {

using Map = wire::InitSegment;
using Health = wire::HealthBuffer;

// health.c, MLX5_SENSOR_*.
constexpr unsigned kPciGone = 1;
constexpr unsigned kInterfaceDisabled = 3;
constexpr unsigned kInterfaceResets = 4;
constexpr unsigned kResetWanted = 5;

}  // namespace

HealthWatch::HealthWatch(DriverEnvironment& environment, const DriverLog& log, Time period,
                         std::function<void()> onFatal)
    : environment_(environment),
      log_(log),
      period_(period),
      onFatal_(std::move(onFatal)),
      timer_(environment.calendar, kernel::Priority::kSoftware, *this, &HealthWatch::look) {}

void HealthWatch::wake() {
  looksLeft_ = kLooks;
  if (!hasFailed_ && !isLooking_ && !timer_.isSet()) timer_.set(environment_.calendar.now() + period_);
}

void HealthWatch::reset() {
  timer_.cancel();
  hasFailed_ = false;
  misses_ = 0;
}

void HealthWatch::look() {
  isLooking_ = true;
  readRegister(environment_.function, Map::kHealthBuffer + Health::kFirmwareVersion,
               [this](std::uint32_t version) { onVersion(version); });
}

void HealthWatch::onVersion(std::uint32_t version) {
  if (version == ~0U) return fail(kPciGone);
  readRegister(environment_.function, Map::kCommandQueueLow, [this](std::uint32_t value) { onInterface(value); });
}

void HealthWatch::onInterface(std::uint32_t queueLow) {
  constexpr unsigned kShift = 8;
  const unsigned state = queueLow >> kShift & 7;
  if (state == 1) return fail(kInterfaceDisabled);
  if (state == 7) return fail(kInterfaceResets);
  readRegister(environment_.function, Map::kHealthBuffer + Health::kSeverity, [this](std::uint32_t severity) {
    readRegister(environment_.function, Map::kHealthBuffer + Health::kSyndrome,
                 [this, severity](std::uint32_t syndrome) { onHealthWords(severity, syndrome); });
  });
}

void HealthWatch::onHealthWords(std::uint32_t severity, std::uint32_t syndrome) {
  if (severity >> 31 != 0 && (syndrome >> 16 & 0xFF) != 0) return fail(kResetWanted);
  readRegister(environment_.function, Map::kHealthCounter, [this](std::uint32_t counter) { onCounter(counter); });
}

void HealthWatch::onCounter(std::uint32_t counter) {
  isLooking_ = false;
  misses_ = counter == std::exchange(counter_, counter) ? misses_ + 1 : 0;
  if (misses_ == kMostMisses) log_.say([] { return "device's health compromised - reached miss count"; });
  if (looksLeft_ != 0 && --looksLeft_ != 0) timer_.set(environment_.calendar.now() + period_);
}

void HealthWatch::fail(unsigned sensor) {
  isLooking_ = false;
  hasFailed_ = true;
  log_.say([sensor] { return "Fatal error " + std::to_string(sensor) + " detected"; });
  onFatal_();
}

}  // namespace hca::driver

#include "sim/time/paced_time_source.h"

#include <thread>
#include <utility>

namespace hca::sim {

namespace {
PacedTimeSource::Clock machineClock() {
  return {[] { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()); },
          [](std::chrono::nanoseconds span) { std::this_thread::sleep_for(span); }};
}
}  // namespace

PacedTimeSource::PacedTimeSource(double scale, std::chrono::nanoseconds grain)
    : PacedTimeSource(scale, grain, machineClock()) {}

PacedTimeSource::PacedTimeSource(double scale, std::chrono::nanoseconds grain, Clock clock)
    : scale_(scale), grain_(grain), clock_(std::move(clock)) {}

Time PacedTimeSource::limit(Time now) {
  if (!std::exchange(started_, true)) {
    wallStart_ = clock_.now();
    simulatedStart_ = now;
  }
  const double elapsed = static_cast<double>((clock_.now() - wallStart_).count());
  constexpr double kPicosecondsPerNanosecond = 1000;
  const Time allowed = simulatedStart_ + Time(static_cast<std::int64_t>(elapsed * kPicosecondsPerNanosecond * scale_));
  return later(now, allowed);
}

void PacedTimeSource::wait(Time) { clock_.sleepFor(grain_); }

}  // namespace hca::sim

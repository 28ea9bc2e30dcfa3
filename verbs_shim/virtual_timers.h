// Timers of a program that lives in simulated time.
#pragma once

#include <stdint.h>

namespace hca::shim {

/// A timer that runs out at `expiry` and every `interval` from then on, nanoseconds of simulated time; 0: never.
struct VirtualTimer {
  int64_t expiry;
  int64_t interval;
};

/// Sets the process's alarm (ITIMER_REAL) and returns what was set before.
VirtualTimer setAlarm(const VirtualTimer& timer);
[[nodiscard]] VirtualTimer currentAlarm();
/// Sends this process SIGALRM if the alarm ran out by `picoseconds` of simulated time.
void expireAlarm(uint64_t picoseconds);

/// Sets the timer of a timerfd and returns what was set before.
VirtualTimer setTimerFile(int fd, const VirtualTimer& timer);
[[nodiscard]] VirtualTimer timerFile(int fd);
/// Makes those timerfds readable that ran out by `nanoseconds`.
void expireTimerFiles(int64_t nanoseconds);

/// Whether any timer is set.
[[nodiscard]] bool hasTimers();
/// How long to wait at most, given a wait of `nanoseconds` (negative: without limit) from `now`
/// on: until the first timer runs out.
[[nodiscard]] int64_t untilNextTimer(int64_t now, int64_t nanoseconds);

}  // namespace hca::shim

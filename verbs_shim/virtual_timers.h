// Timers of a program that lives in simulated time.
#pragma once

#include <stdint.h>
#include <time.h>

namespace hca::shim {

/// A timer that runs out at `expiry` and every `interval` from then on, nanoseconds of simulated time; 0: never.
struct VirtualTimer {
  int64_t expiry;
  int64_t interval;
};

/// Sets the process's alarm (ITIMER_REAL) and returns what was set before.
VirtualTimer setAlarm(const VirtualTimer& timer);
[[nodiscard]] VirtualTimer currentAlarm();
/// Timers of timer_create: they keep their kernel's timer, which tells of their end.
enum class TimerClock { kReal, kWall, kUptime };
/// False if there is no room: then it stays in real time.
bool addTimer(timer_t id, bool isWall);
void removeTimer(timer_t id);
/// kReal: it isn't one of these.
[[nodiscard]] TimerClock clockOf(timer_t id);
/// Sets it and returns what was set before.
VirtualTimer setProcessTimer(timer_t id, const VirtualTimer& timer);
[[nodiscard]] VirtualTimer processTimer(timer_t id);

/// Sends the signals of the alarm and of timers that ran out by `picoseconds` of simulated time.
void expireSignals(uint64_t picoseconds);

/// Sets the timer of a timerfd and returns what was set before.
VirtualTimer setTimerFile(int fd, const VirtualTimer& timer);
[[nodiscard]] VirtualTimer timerFile(int fd);
/// Makes those timerfds readable that ran out by `nanoseconds`.
void expireTimerFiles(int64_t nanoseconds);

/// In the child of a fork: it has its parent's timerfds, but no alarm and no timer of timer_create (fork(2)).
void forgetSignalTimers();
/// Whether any timer is set.
[[nodiscard]] bool hasTimers();
/// How long to wait at most, given a wait of `nanoseconds` (negative: without limit) from `now`
/// on: until the first timer runs out.
[[nodiscard]] int64_t untilNextTimer(int64_t now, int64_t nanoseconds);

}  // namespace hca::shim

// The C library's functions that read a clock.
#include <errno.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "verbs_shim/real_calls.h"
#include "verbs_shim/settings.h"
#include "verbs_shim/virtual_time.h"

using namespace hca::shim;

HCASIM_REAL(clock_gettime);

namespace {

constexpr uint64_t kPerSecond = 1000000000;
constexpr uint64_t kPicoseconds = 1000;

bool isWall(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI; }
bool isUptime(clockid_t clock) {
  return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_MONOTONIC_COARSE ||
         clock == CLOCK_BOOTTIME;
}

}  // namespace

HCASIM_EXPORT int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (settings().tscKilohertz == 0) return clock_gettimeReal(clock, time);
  // Where the time stamp counter traps, real time comes from the system call: the library's own way reads the counter.
  const bool isVirtual = hasVirtualTime() && (isWall(clock) || isUptime(clock));
  if (!isVirtual) return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  const uint64_t now = virtualNow() / kPicoseconds + (isWall(clock) ? wallOffset() : uptimeOffset());
  *time = {static_cast<time_t>(now / kPerSecond), static_cast<long>(now % kPerSecond)};
  return 0;
}

HCASIM_EXPORT int gettimeofday(timeval* time, void*) noexcept {
  constexpr long kPerMicrosecond = 1000;
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *time = {now.tv_sec, now.tv_nsec / kPerMicrosecond};
  return 0;
}

HCASIM_EXPORT time_t time(time_t* out) noexcept {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

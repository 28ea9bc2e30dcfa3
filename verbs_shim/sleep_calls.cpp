// The C library's functions that sleep.
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "verbs_shim/channel_client.h"
#include "verbs_shim/real_calls.h"
#include "verbs_shim/virtual_time.h"
#include "verbs_shim/virtual_timers.h"

using namespace hca::shim;

HCASIM_REAL(clock_nanosleep);

namespace {

constexpr int64_t kPerSecond = 1000000000;

// 0, or EINTR after an alarm.
int sleepVirtually(int64_t span, timespec* left) {
  while (span > 0) {
    const int64_t piece = hasTimers() ? untilNextTimer(static_cast<int64_t>(virtualNow() / 1000), span) : span;
    const unsigned before = handledSignals();
    virtualSleep(static_cast<uint64_t>(piece));
    span -= piece;
    if (handledSignals() == before) continue;
    if (left != nullptr) *left = {span / kPerSecond, span % kPerSecond};
    return EINTR;
  }
  return 0;
}

}  // namespace

HCASIM_EXPORT int clock_nanosleep(clockid_t clock, int flags, const timespec* wanted, timespec* left) {
  if (hasVirtualTime()) {
    int64_t span = wanted->tv_sec * kPerSecond + wanted->tv_nsec;
    if ((flags & TIMER_ABSTIME) != 0) {
      timespec present;
      clock_gettime(clock, &present);
      span -= present.tv_sec * kPerSecond + present.tv_nsec;
    }
    if (span <= 0) return 0;
    if (isConnected()) return sleepVirtually(span, (flags & TIMER_ABSTIME) == 0 ? left : nullptr);
    virtualSleep(static_cast<uint64_t>(span));
  }
  for (timespec rest = *wanted;;) {
    const unsigned before = interrupts();
    timespec remaining{};
    const int error = clock_nanosleepReal(clock, flags, &rest, &remaining);
    const bool isOurs = error == EINTR && interrupts() != before;
    if (!isOurs && left != nullptr && error == EINTR) *left = remaining;
    if (!isOurs) return error;
    if ((flags & TIMER_ABSTIME) == 0) rest = remaining;
  }
}
HCASIM_EXPORT int nanosleep(const timespec* wanted, timespec* left) {
  const int error = clock_nanosleep(CLOCK_REALTIME, 0, wanted, left);
  if (error == 0) return 0;
  errno = error;
  return -1;
}
HCASIM_EXPORT int usleep(useconds_t microseconds) {
  const timespec time{static_cast<time_t>(microseconds / 1000000), static_cast<long>(microseconds % 1000000) * 1000};
  return nanosleep(&time, nullptr);
}
HCASIM_EXPORT unsigned sleep(unsigned seconds) {
  const timespec time{static_cast<time_t>(seconds), 0};
  timespec left{};
  return nanosleep(&time, &left) == 0 ? 0 : static_cast<unsigned>(left.tv_sec) + (left.tv_nsec >= 500000000 ? 1 : 0);
}

// The C library's timers, which a program that lives in simulated time sees run out in it.
#include <errno.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "verbs_shim/device_files.h"
#include "verbs_shim/real_calls.h"
#include "verbs_shim/virtual_time.h"
#include "verbs_shim/virtual_timers.h"

using namespace hca::shim;

HCASIM_REAL(timerfd_create);
HCASIM_REAL(timerfd_settime);
HCASIM_REAL(timerfd_gettime);
HCASIM_REAL(setitimer);
HCASIM_REAL(getitimer);
HCASIM_REAL(alarm);
HCASIM_REAL(timer_create);
HCASIM_REAL(timer_delete);
HCASIM_REAL(timer_settime);
HCASIM_REAL(timer_gettime);

namespace {

constexpr int64_t kPerSecond = 1000000000;
constexpr int64_t kPerMicrosecond = 1000;

int64_t present() { return static_cast<int64_t>(virtualNow() / 1000); }

// `value` from now on; 0: never.
VirtualTimer timerOf(int64_t value, int64_t interval) { return {value == 0 ? 0 : present() + value, interval}; }
int64_t leftOf(const VirtualTimer& timer) {
  if (timer.expiry == 0) return 0;
  const int64_t left = timer.expiry - present();
  return left > 0 ? left : 1;
}

int64_t spanOf(const timespec& time) { return time.tv_sec * kPerSecond + time.tv_nsec; }
timespec toSpec(int64_t span) { return {span / kPerSecond, span % kPerSecond}; }
int64_t spanOf(const timeval& time) { return time.tv_sec * kPerSecond + time.tv_usec * kPerMicrosecond; }
timeval toTimeval(int64_t span) {
  // What is left is never rounded to nothing.
  return {span / kPerSecond, (span % kPerSecond + kPerMicrosecond - 1) / kPerMicrosecond};
}

// From now on; 0: never.
int64_t spanOf(const itimerspec& wanted, bool isAbsolute, bool isWall) {
  const int64_t value = spanOf(wanted.it_value);
  if (!isAbsolute || value == 0) return value;
  const int64_t left = value - present() - static_cast<int64_t>(isWall ? wallOffset() : uptimeOffset());
  return left <= 0 ? 1 : left;
}

itimerspec toFileTimer(const VirtualTimer& timer) { return {toSpec(timer.interval), toSpec(leftOf(timer))}; }
itimerval toTimer(const VirtualTimer& timer) { return {toTimeval(timer.interval), toTimeval(leftOf(timer))}; }

}  // namespace

HCASIM_EXPORT int timerfd_create(clockid_t clock, int flags) noexcept {
  const int fd = timerfd_createReal(clock, flags);
  if (hasVirtualTime()) timerOpened(fd, clock == CLOCK_REALTIME);
  return fd;
}

HCASIM_EXPORT int timerfd_settime(int fd, int flags, const itimerspec* wanted, itimerspec* before) noexcept {
  if (!hasVirtualTime() || wanted == nullptr || !isTimer(fd)) return timerfd_settimeReal(fd, flags, wanted, before);
  const itimerspec none{};
  if (const int result = timerfd_settimeReal(fd, 0, &none, nullptr); result != 0) return result;
  const int64_t value = spanOf(*wanted, (flags & TFD_TIMER_ABSTIME) != 0, kindOf(fd) == FileKind::kWallTimer);
  const VirtualTimer old = setTimerFile(fd, timerOf(value, spanOf(wanted->it_interval)));
  if (before != nullptr) *before = toFileTimer(old);
  return 0;
}

HCASIM_EXPORT int timerfd_gettime(int fd, itimerspec* out) noexcept {
  if (!hasVirtualTime() || !isTimer(fd)) return timerfd_gettimeReal(fd, out);
  *out = toFileTimer(timerFile(fd));
  return 0;
}

HCASIM_EXPORT int setitimer(__itimer_which_t which, const itimerval* wanted, itimerval* before) noexcept {
  if (which != ITIMER_REAL || !hasVirtualTime() || wanted == nullptr) return setitimerReal(which, wanted, before);
  const VirtualTimer old = setAlarm(timerOf(spanOf(wanted->it_value), spanOf(wanted->it_interval)));
  if (before != nullptr) *before = toTimer(old);
  return 0;
}

HCASIM_EXPORT int getitimer(__itimer_which_t which, itimerval* out) noexcept {
  if (which != ITIMER_REAL || !hasVirtualTime()) return getitimerReal(which, out);
  *out = toTimer(currentAlarm());
  return 0;
}

HCASIM_EXPORT unsigned alarm(unsigned seconds) noexcept {
  if (!hasVirtualTime()) return alarmReal(seconds);
  const VirtualTimer old = setAlarm(timerOf(static_cast<int64_t>(seconds) * kPerSecond, 0));
  return static_cast<unsigned>((leftOf(old) + kPerSecond - 1) / kPerSecond);
}

// Timers of processor time stay what they are.
HCASIM_EXPORT int timer_create(clockid_t clock, sigevent* event, timer_t* out) noexcept {
  const int result = timer_createReal(clock, event, out);
  const bool isProcessor = clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0;
  if (result == 0 && hasVirtualTime() && !isProcessor) (void)addTimer(*out, clock == CLOCK_REALTIME);
  return result;
}
HCASIM_EXPORT int timer_delete(timer_t id) noexcept {
  removeTimer(id);
  return timer_deleteReal(id);
}
HCASIM_EXPORT int timer_settime(timer_t id, int flags, const itimerspec* wanted, itimerspec* before) noexcept {
  const TimerClock clock = hasVirtualTime() && wanted != nullptr ? clockOf(id) : TimerClock::kReal;
  if (clock == TimerClock::kReal) return timer_settimeReal(id, flags, wanted, before);
  const VirtualTimer old = setProcessTimer(
      id,
      timerOf(spanOf(*wanted, (flags & TIMER_ABSTIME) != 0, clock == TimerClock::kWall), spanOf(wanted->it_interval)));
  if (before != nullptr) *before = toFileTimer(old);
  return 0;
}
HCASIM_EXPORT int timer_gettime(timer_t id, itimerspec* out) noexcept {
  if (!hasVirtualTime() || clockOf(id) == TimerClock::kReal) return timer_gettimeReal(id, out);
  *out = toFileTimer(processTimer(id));
  return 0;
}

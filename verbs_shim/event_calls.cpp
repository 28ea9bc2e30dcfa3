// The C library's functions by which programs wait for events of the device.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "verbs_shim/channel_client.h"
#include "verbs_shim/device_files.h"
#include "verbs_shim/real_calls.h"
#include "verbs_shim/virtual_time.h"

using namespace hca::shim;

HCASIM_REAL(read);
HCASIM_REAL(ppoll);
HCASIM_REAL(pselect);
HCASIM_REAL(epoll_ctl);
HCASIM_REAL(clock_nanosleep);
HCASIM_REAL(epoll_pwait);

namespace {

constexpr int64_t kForEver = -1;
constexpr int64_t kPerSecond = 1000000000;
constexpr int64_t kPerMillisecond = 1000000;

int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kPerSecond + time.tv_nsec;
}

// Lets the simulation go on until an event may be there; false if only somebody else can bring one. A wait for no
// longer than `nanoseconds` of wall time; kForEver: no limit.
bool waitForEvent(int64_t nanoseconds) {
  hca::channel::Request request{};
  request.kind = nanoseconds == 0 ? hca::channel::Kind::kPollEmpty : hca::channel::Kind::kWaitForEvent;
  request.argument[0] = nanoseconds == kForEver ? 0 : static_cast<uint64_t>(nanoseconds);
  hca::channel::Reply reply{};
  return call(request, reply) == 0;
}

// A real wait, again when the simulation interrupted it. `wait(left)` takes what is left of the time.
template <class Wait>
int waitThrough(int64_t nanoseconds, Wait wait) {
  const int64_t start = nanoseconds > 0 ? now() : 0;
  int64_t left = nanoseconds;
  for (;;) {
    const unsigned before = interrupts();
    const int found = wait(left);
    if (found >= 0 || errno != EINTR || interrupts() == before) return found;
    if (nanoseconds > 0) left = nanoseconds - (now() - start);
    if (nanoseconds > 0 && left < 0) left = 0;
  }
}

// The wait of a function that looks at descriptors. `look(timeout)` is the real function: with 0 it only looks, with
// another value it is to wait as the program said, less what passed.
template <class Look>
int waitBy(int64_t nanoseconds, Look look) {
  const int64_t start = now();
  for (;;) {
    const int found = look(int64_t{0});
    if (found != 0) return found;
    const int64_t passed = nanoseconds == kForEver ? 0 : now() - start;
    if (nanoseconds != kForEver && nanoseconds != 0 && passed >= nanoseconds) return 0;
    const int64_t left = nanoseconds == kForEver ? kForEver : nanoseconds - (nanoseconds == 0 ? 0 : passed);
    const bool mayBeThere = waitForEvent(left);
    if (nanoseconds == 0) return look(int64_t{0});
    if (!mayBeThere) return waitThrough(left, look);
  }
}

// For functions that count in milliseconds.
int roundedUp(int64_t nanoseconds) {
  return nanoseconds == kForEver ? -1 : static_cast<int>((nanoseconds + kPerMillisecond - 1) / kPerMillisecond);
}
timespec specOf(int64_t nanoseconds) { return {nanoseconds / kPerSecond, nanoseconds % kPerSecond}; }
int64_t nanosecondsOf(const timespec* time) {
  return time == nullptr ? kForEver : time->tv_sec * kPerSecond + time->tv_nsec;
}

bool anyEvents(const pollfd* fds, nfds_t count) {
  for (nfds_t i = 0; i < count; ++i) {
    if (kindOf(fds[i].fd) == FileKind::kEvents) return true;
  }
  return false;
}

bool anyEvents(int count, const fd_set* set) {
  for (int fd = 0; set != nullptr && fd < count; ++fd) {
    if (FD_ISSET(fd, set) && kindOf(fd) == FileKind::kEvents) return true;
  }
  return false;
}

int pollEvents(pollfd* fds, nfds_t count, int64_t nanoseconds, const sigset_t* mask) {
  return waitBy(nanoseconds, [=](int64_t left) {
    const timespec time = specOf(left);
    return ppollReal(fds, count, left == kForEver ? nullptr : &time, mask);
  });
}

int selectEvents(int count, fd_set* reads, fd_set* writes, fd_set* others, int64_t nanoseconds, const sigset_t* mask) {
  // Each look spoils the sets.
  fd_set kept[3];
  fd_set* sets[3] = {reads, writes, others};
  for (int i = 0; i < 3; ++i) {
    if (sets[i] != nullptr) kept[i] = *sets[i];
  }
  return waitBy(nanoseconds, [&](int64_t left) {
    for (int i = 0; i < 3; ++i) {
      if (sets[i] != nullptr) *sets[i] = kept[i];
    }
    const timespec time = specOf(left);
    return pselectReal(count, reads, writes, others, left == kForEver ? nullptr : &time, mask);
  });
}

int epollEvents(int epoll, epoll_event* events, int most, int timeout, const sigset_t* mask) {
  const int64_t nanoseconds = timeout < 0 ? kForEver : timeout * kPerMillisecond;
  return waitBy(nanoseconds, [=](int64_t left) { return epoll_pwaitReal(epoll, events, most, roundedUp(left), mask); });
}

ssize_t readEvents(int fd, void* bytes, size_t length) {
  const int flags = fcntl(fd, F_GETFL);
  const bool waits = flags >= 0 && (flags & O_NONBLOCK) == 0;
  pollfd readable{fd, POLLIN, 0};
  // Only who may wait is made to; the others look twice.
  (void)pollEvents(&readable, 1, waits ? kForEver : 0, nullptr);
  const ssize_t got = readReal(fd, bytes, length);
  if (got > 0) noteEvent();
  return got;
}

}  // namespace

HCASIM_EXPORT ssize_t read(int fd, void* bytes, size_t length) {
  return kindOf(fd) == FileKind::kEvents ? readEvents(fd, bytes, length) : readReal(fd, bytes, length);
}
HCASIM_EXPORT ssize_t __read_chk(int fd, void* bytes, size_t length, size_t) { return read(fd, bytes, length); }

HCASIM_EXPORT int ppoll(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  const int64_t limit = nanosecondsOf(timeout);
  if (anyEvents(fds, count)) return pollEvents(fds, count, limit, mask);
  return waitThrough(limit, [=](int64_t left) {
    const timespec time = specOf(left);
    return ppollReal(fds, count, left == kForEver ? nullptr : &time, mask);
  });
}
HCASIM_EXPORT int poll(pollfd* fds, nfds_t count, int timeout) {
  const timespec limit = specOf(timeout < 0 ? 0 : timeout * kPerMillisecond);
  return ppoll(fds, count, timeout < 0 ? nullptr : &limit, nullptr);
}
HCASIM_EXPORT int __poll_chk(pollfd* fds, nfds_t count, int timeout, size_t) { return poll(fds, count, timeout); }

HCASIM_EXPORT int pselect(int count, fd_set* reads, fd_set* writes, fd_set* others, const timespec* timeout,
                          const sigset_t* mask) {
  const int64_t limit = nanosecondsOf(timeout);
  if (anyEvents(count, reads)) return selectEvents(count, reads, writes, others, limit, mask);
  // A wait that fails leaves the sets as they were.
  return waitThrough(limit, [=](int64_t left) {
    const timespec time = specOf(left);
    return pselectReal(count, reads, writes, others, left == kForEver ? nullptr : &time, mask);
  });
}
HCASIM_EXPORT int select(int count, fd_set* reads, fd_set* writes, fd_set* others, timeval* timeout) {
  constexpr int64_t kPerMicrosecond = 1000;
  if (timeout == nullptr) return pselect(count, reads, writes, others, nullptr, nullptr);
  const int64_t start = now();
  const int64_t limit = timeout->tv_sec * kPerSecond + timeout->tv_usec * kPerMicrosecond;
  const timespec time = specOf(limit);
  const int found = pselect(count, reads, writes, others, &time, nullptr);
  // Linux tells what was left of the time.
  const int64_t passed = now() - start;
  const int64_t left = passed < limit ? limit - passed : 0;
  *timeout = {left / kPerSecond, left % kPerSecond / kPerMicrosecond};
  return found;
}

// An epoll set that watches an event file counts as one.
HCASIM_EXPORT int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) {
  const int result = epoll_ctlReal(epoll, operation, fd, event);
  if (result == 0 && operation == EPOLL_CTL_ADD && kindOf(fd) == FileKind::kEvents) eventsOpened(epoll);
  return result;
}
HCASIM_EXPORT int epoll_pwait(int epoll, epoll_event* events, int most, int timeout, const sigset_t* mask) {
  if (kindOf(epoll) == FileKind::kEvents) return epollEvents(epoll, events, most, timeout, mask);
  return waitThrough(timeout < 0 ? kForEver : timeout * kPerMillisecond,
                     [=](int64_t left) { return epoll_pwaitReal(epoll, events, most, roundedUp(left), mask); });
}
HCASIM_EXPORT int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
  return epoll_pwait(epoll, events, most, timeout, nullptr);
}

HCASIM_EXPORT int clock_nanosleep(clockid_t clock, int flags, const timespec* wanted, timespec* left) {
  if (hasVirtualTime()) {
    int64_t span = nanosecondsOf(wanted);
    if ((flags & TIMER_ABSTIME) != 0) {
      timespec present;
      clock_gettime(clock, &present);
      span -= nanosecondsOf(&present);
    }
    if (span <= 0 || virtualSleep(static_cast<uint64_t>(span))) return 0;
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

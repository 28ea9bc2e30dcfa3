// The C library's functions by which programs wait for events of the device.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "verbs_shim/channel_client.h"
#include "verbs_shim/device_files.h"
#include "verbs_shim/real_calls.h"
#include "verbs_shim/virtual_time.h"
#include "verbs_shim/virtual_timers.h"

using namespace hca::shim;

HCASIM_REAL(read);
HCASIM_REAL(ppoll);
HCASIM_REAL(pselect);
HCASIM_REAL(epoll_ctl);
HCASIM_REAL(epoll_pwait);

namespace {

// The event file that a call waits for, and whether it waits for nothing else.
struct EventWait {
  int file = -1;
  bool isAlone = true;
};

constexpr int64_t kForEver = -1;
constexpr int64_t kPerSecond = 1000000000;
constexpr int64_t kPerMillisecond = 1000000;

int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kPerSecond + time.tv_nsec;
}

enum class Outcome {
  kLookAgain,   // something may be there
  kTimedOut,    // simulated time is over
  kNothing,     // only somebody else can bring something
  kInterrupted  // a handler of the program ran
};

// Lets the simulation go on until an event may be there. kForEver: no limit.
Outcome waitForEvent(int64_t nanoseconds, const EventWait& wait) {
  hca::channel::Request request;
  clear(request, nanoseconds == 0 ? hca::channel::Kind::kPollEmpty : hca::channel::Kind::kWaitForEvent);
  if (nanoseconds > 0) request.argument[hasVirtualTime() ? 1 : 0] = static_cast<uint64_t>(nanoseconds);
  if (nanoseconds != 0) {
    request.argument[2] = static_cast<uint32_t>(wait.file) | (wait.isAlone ? hca::channel::kNothingButEvents : 0);
  }
  hca::channel::Reply reply{};
  const unsigned before = handledSignals();
  const int error = call(request, reply);
  if (handledSignals() != before) return Outcome::kInterrupted;
  if (error == hca::channel::kTimedOut) return Outcome::kTimedOut;
  return error == 0 ? Outcome::kLookAgain : Outcome::kNothing;
}

// A real wait, again when the simulation interrupted it. `wait(left)` takes what is left of the time.
template <class Wait>
int waitReally(int64_t nanoseconds, Wait wait) {
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

int64_t virtualNanoseconds() { return static_cast<int64_t>(virtualNow() / 1000); }

// A wait for something that is not of ours. A limited one in simulated time looks again and again.
template <class Wait>
int waitThrough(int64_t nanoseconds, Wait wait) {
  const bool isVirtual = hasVirtualTime() && isConnected() && nanoseconds != 0;
  if (!isVirtual || (nanoseconds < 0 && !hasTimers())) return waitReally(nanoseconds, wait);
  const int64_t start = virtualNanoseconds();
  for (int64_t present = start;; present = virtualNanoseconds()) {
    expireTimerFiles(present);
    const int64_t left = nanoseconds < 0 ? INT64_MAX : nanoseconds - (present - start);
    const int found = waitReally(left <= 0 ? 0 : kRealSlice, wait);
    if (found != 0 || left <= 0) return found;
    const int64_t slice = virtualSlice(present - start);
    const unsigned before = handledSignals();
    virtualSleep(static_cast<uint64_t>(untilNextTimer(present, slice < left ? slice : left)));
    if (handledSignals() != before) {
      errno = EINTR;
      return -1;
    }
  }
}

// The wait of a function that looks at descriptors. `look(timeout)` is the real function: with 0 it only looks, with
// another value it is to wait as the program said, less what passed.
template <class Look>
int waitBy(int64_t nanoseconds, const EventWait& wait, Look look) {
  const int64_t start = nanoseconds > 0 ? now() : 0;
  for (;;) {
    const int64_t present = nanoseconds > 0 ? now() : 0;
    if (hasTimers()) expireTimerFiles(virtualNanoseconds());
    const int found = look(int64_t{0});
    if (found != 0) return found;
    if (nanoseconds > 0 && present - start >= nanoseconds) return 0;
    const int64_t left = nanoseconds > 0 ? nanoseconds - (present - start) : nanoseconds;
    switch (waitForEvent(hasTimers() ? untilNextTimer(virtualNanoseconds(), left) : left, wait)) {
      case Outcome::kLookAgain:
      case Outcome::kTimedOut:
        if (nanoseconds == 0) return look(int64_t{0});
        break;
      case Outcome::kInterrupted:
        errno = EINTR;
        return -1;
      case Outcome::kNothing:
        return nanoseconds == 0 ? look(int64_t{0}) : waitThrough(left, look);
    }
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

bool isOurs(int fd) { return kindOf(fd) == FileKind::kEvents; }

EventWait waitOf(const pollfd* fds, nfds_t count) {
  EventWait wait;
  for (nfds_t i = 0; i < count; ++i) {
    if (fds[i].fd < 0) continue;
    if (isOurs(fds[i].fd)) wait.file = fds[i].fd;
    if (!isOurs(fds[i].fd)) wait.isAlone = false;
  }
  return wait;
}

EventWait waitOf(int count, const fd_set* reads, const fd_set* writes, const fd_set* others) {
  EventWait wait;
  for (int fd = 0; fd < count; ++fd) {
    const bool isRead = reads != nullptr && FD_ISSET(fd, reads);
    const bool isOther = (writes != nullptr && FD_ISSET(fd, writes)) || (others != nullptr && FD_ISSET(fd, others));
    if (isRead && isOurs(fd)) wait.file = fd;
    if (isOther || (isRead && !isOurs(fd))) wait.isAlone = false;
  }
  return wait;
}

int pollEvents(pollfd* fds, nfds_t count, int64_t nanoseconds, const sigset_t* mask) {
  return waitBy(nanoseconds, waitOf(fds, count), [=](int64_t left) {
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
  return waitBy(nanoseconds, waitOf(count, reads, writes, others), [&](int64_t left) {
    for (int i = 0; i < 3; ++i) {
      if (sets[i] != nullptr) *sets[i] = kept[i];
    }
    const timespec time = specOf(left);
    return pselectReal(count, reads, writes, others, left == kForEver ? nullptr : &time, mask);
  });
}

int epollEvents(int epoll, epoll_event* events, int most, int timeout, const sigset_t* mask) {
  const int64_t nanoseconds = timeout < 0 ? kForEver : timeout * kPerMillisecond;
  // What else is in the set is not known.
  const EventWait wait{epoll, false};
  return waitBy(nanoseconds, wait,
                [=](int64_t left) { return epoll_pwaitReal(epoll, events, most, roundedUp(left), mask); });
}

ssize_t readEvents(int fd, void* bytes, size_t length) {
  const int flags = fcntl(fd, F_GETFL);
  const bool waits = flags >= 0 && (flags & O_NONBLOCK) == 0;
  pollfd readable{fd, POLLIN, 0};
  // Only who may wait is made to; the others look twice.
  while (pollEvents(&readable, 1, waits ? kForEver : 0, nullptr) < 0) {
    if (errno != EINTR || !wasRestarted()) return -1;
  }
  const ssize_t got = readReal(fd, bytes, length);
  if (got > 0 && isOurs(fd)) {
    noteEvent();
    // The record of a completion channel is the handle alone.
    uint64_t handle = 0;
    if (got == sizeof handle) {
      memcpy(&handle, bytes, sizeof handle);
      tellOfEvent(handle);
    }
  }
  return got;
}

}  // namespace

HCASIM_EXPORT ssize_t read(int fd, void* bytes, size_t length) {
  if (kindOf(fd) == FileKind::kOther || kindOf(fd) == FileKind::kDevice) return readReal(fd, bytes, length);
  return readEvents(fd, bytes, length);
}
HCASIM_EXPORT ssize_t __read_chk(int fd, void* bytes, size_t length, size_t) { return read(fd, bytes, length); }

HCASIM_EXPORT int ppoll(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  const int64_t limit = nanosecondsOf(timeout);
  if (limit > 0 && count == 0 && mask == nullptr && virtualSleep(static_cast<uint64_t>(limit))) return 0;
  if (waitOf(fds, count).file >= 0) return pollEvents(fds, count, limit, mask);
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
  if (limit > 0 && count == 0 && mask == nullptr && virtualSleep(static_cast<uint64_t>(limit))) return 0;
  if (waitOf(count, reads, nullptr, nullptr).file >= 0) return selectEvents(count, reads, writes, others, limit, mask);
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

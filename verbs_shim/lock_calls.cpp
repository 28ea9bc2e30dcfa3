// The C library's locks: a thread that has to wait for one waits in simulated time. Locks that are free cost no call.
// Those that other processes share, robust ones, and those with priorities are the C library's alone.
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "verbs_shim/channel_client.h"
#include "verbs_shim/real_calls.h"
#include "verbs_shim/thread_waits.h"
#include "verbs_shim/virtual_time.h"

using namespace hca::shim;

HCASIM_REAL(pthread_mutex_lock);
HCASIM_REAL(pthread_mutex_timedlock);
HCASIM_REAL(pthread_mutex_clocklock);
HCASIM_REAL(pthread_mutex_unlock);
HCASIM_REAL(pthread_rwlock_rdlock);
HCASIM_REAL(pthread_rwlock_wrlock);
HCASIM_REAL(pthread_rwlock_unlock);
HCASIM_REAL(pthread_spin_lock);
HCASIM_REAL(sched_yield);

namespace {

// Stands in the queue, looks, and sleeps, until `tryLock` says something else than EBUSY.
template <class TryLock>
int lockOrdered(const void* lock, TryLock tryLock, const timespec* until) {
  for (;;) {
    ThreadWait wait(lock);
    if (const int error = tryLock(); error != EBUSY) return error;
    const WaitEnd end = wait.sleep(until == nullptr ? int64_t{-1} : leftUntil(*until));
    if (end == WaitEnd::kTimedOut) return ETIMEDOUT;
  }
}

bool isOurs(const pthread_mutex_t* mutex) {
  constexpr int kRobust = 16, kInherit = 32, kProtect = 64, kShared = 128;
  return ordersThreads() && (mutex->__data.__kind & (kRobust | kInherit | kProtect | kShared)) == 0;
}
// Whether it is to fail because this thread has it already.
bool wouldFail(const pthread_mutex_t* mutex) {
  constexpr int kType = 3;
  return (mutex->__data.__kind & kType) == PTHREAD_MUTEX_ERRORCHECK &&
         mutex->__data.__owner == static_cast<int>(syscall(SYS_gettid));
}

int lock(pthread_mutex_t* mutex, const timespec* until) {
  const auto tryLock = [mutex] { return pthread_mutex_trylock(mutex); };
  const int error = tryLock();
  if (error != EBUSY) return error;
  return wouldFail(mutex) ? EDEADLK : lockOrdered(mutex, tryLock, until);
}

template <class Real, class TryLock>
int lockFor(pthread_rwlock_t* lock, Real& real, TryLock tryLock) {
  const int error = tryLock(lock);
  if (error != EBUSY) return error;
  if (!ordersThreads() || lock->__data.__shared != 0) return real(lock);
  return lockOrdered(
      lock, [=] { return tryLock(lock); }, nullptr);
}

void pass(hca::channel::Kind kind, uint64_t nanoseconds) {
  hca::channel::Request request;
  hca::channel::clear(request, kind);
  request.argument[0] = nanoseconds;
  hca::channel::Reply reply{};
  (void)call(request, reply);
}

}  // namespace

HCASIM_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  return isOurs(mutex) ? lock(mutex, nullptr) : pthread_mutex_lockReal(mutex);
}
HCASIM_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* end) noexcept {
  return hasVirtualTime() && isOurs(mutex) ? lock(mutex, end) : pthread_mutex_timedlockReal(mutex, end);
}
HCASIM_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* end) noexcept {
  return hasVirtualTime() && isOurs(mutex) ? lock(mutex, end) : pthread_mutex_clocklockReal(mutex, clock, end);
}
HCASIM_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  const int error = pthread_mutex_unlockReal(mutex);
  if (waitingThreads() != 0 && !isInSimulation()) (void)wakeWaiting(mutex, 1);
  return error;
}

HCASIM_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  return lockFor(lock, pthread_rwlock_rdlockReal, pthread_rwlock_tryrdlock);
}
HCASIM_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  return lockFor(lock, pthread_rwlock_wrlockReal, pthread_rwlock_trywrlock);
}
HCASIM_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  const int error = pthread_rwlock_unlockReal(lock);
  if (waitingThreads() != 0 && !isInSimulation()) (void)wakeWaiting(lock, kAll);
  return error;
}

// Who spins looks again and again: libmlx5 has such locks around each queue.
HCASIM_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  if (pthread_spin_trylock(lock) == 0) return 0;
  if (!ordersThreads()) return pthread_spin_lockReal(lock);
  constexpr uint64_t kLook = 20, kLongest = 1000;  // nanoseconds
  for (uint64_t look = kLook; pthread_spin_trylock(lock) != 0;) {
    if (!ordersThreads()) return pthread_spin_lockReal(lock);
    pass(hca::channel::Kind::kSleep, look);
    look = look < kLongest ? look + kLook : kLongest;
  }
  return 0;
}

HCASIM_EXPORT int sched_yield() noexcept {
  if (!ordersThreads()) return sched_yieldReal();
  pass(hca::channel::Kind::kReadClock, 0);
  return 0;
}

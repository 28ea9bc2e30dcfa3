// The C library's condition variables, semaphores and barriers: waits for other threads are waits in simulated time.
// Those that other processes share are the C library's alone.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "verbs_shim/channel_client.h"
#include "verbs_shim/real_calls.h"
#include "verbs_shim/settings.h"
#include "verbs_shim/thread_waits.h"
#include "verbs_shim/virtual_time.h"

using namespace hca::shim;

HCASIM_REAL(pthread_cond_clockwait);
HCASIM_REAL(sem_wait);
HCASIM_REAL(sem_clockwait);
HCASIM_REAL(sem_timedwait);
HCASIM_REAL(sem_post);
HCASIM_REAL(pthread_barrier_init);
HCASIM_REAL(pthread_barrier_wait);
HCASIM_REAL(pthread_barrier_destroy);

namespace {

constexpr int64_t kForEver = -1;

// The C library has two functions of each of these names; the newer one is meant.
template <class Function>
Function newer(const char* name) {
  return reinterpret_cast<Function>(dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2"));
}
template <class... Arguments>
using IntFunction = int (*)(Arguments...);

int waitReal(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static const auto function = newer<IntFunction<pthread_cond_t*, pthread_mutex_t*>>("pthread_cond_wait");
  return function(condition, mutex);
}
int timedwaitReal(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* end) {
  static const auto function =
      newer<IntFunction<pthread_cond_t*, pthread_mutex_t*, const timespec*>>("pthread_cond_timedwait");
  return function(condition, mutex, end);
}
int signalReal(pthread_cond_t* condition) {
  static const auto function = newer<IntFunction<pthread_cond_t*>>("pthread_cond_signal");
  return function(condition);
}
int broadcastReal(pthread_cond_t* condition) {
  static const auto function = newer<IntFunction<pthread_cond_t*>>("pthread_cond_broadcast");
  return function(condition);
}

bool isOurs(const pthread_cond_t* condition) {
  constexpr unsigned kShared = 1;
  return ordersThreads() && (condition->__data.__wrefs & kShared) == 0;
}
bool isOurs(const sem_t* semaphore) {
  // Behind the value and the number of those that wait: whether other processes share it.
  constexpr int kShared = 2;
  return ordersThreads() && reinterpret_cast<const int*>(semaphore)[kShared] == 0;
}

int waitOrdered(pthread_cond_t* condition, pthread_mutex_t* mutex, int64_t left) {
  WaitEnd end = WaitEnd::kWoken;
  {
    ThreadWait wait(condition);
    if (const int error = pthread_mutex_unlock(mutex); error != 0) return error;
    end = wait.sleep(left);
  }
  pthread_mutex_lock(mutex);
  if (end == WaitEnd::kInterrupted) pthread_testcancel();
  return end == WaitEnd::kTimedOut ? ETIMEDOUT : 0;
}

int failed(int error) {
  errno = error;
  return -1;
}

int waitOrdered(sem_t* semaphore, const timespec* until) {
  const int before = errno;
  for (;;) {
    WaitEnd end = WaitEnd::kWoken;
    const unsigned handled = handledSignals();
    {
      ThreadWait wait(semaphore);
      if (sem_trywait(semaphore) == 0) {
        errno = before;
        return 0;
      }
      if (errno != EAGAIN) return -1;
      end = wait.sleep(until == nullptr ? kForEver : leftUntil(*until));
    }
    if (end == WaitEnd::kTimedOut) return failed(ETIMEDOUT);
    if (end != WaitEnd::kInterrupted) continue;
    pthread_testcancel();
    if (handledSignals() != handled && !wasRestarted()) return failed(EINTR);
  }
}

// Barriers are this library's from the beginning: threads that wait at one before the device is open, and those that
// come later, must meet.
struct Barrier {
  const pthread_barrier_t* object;
  unsigned count;
  unsigned arrived;
  unsigned round;
};
constexpr int kMostBarriers = 256;
Barrier barriers[kMostBarriers];
pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

Barrier* find(const pthread_barrier_t* object) {
  for (Barrier& barrier : barriers) {
    if (barrier.object == object) return &barrier;
  }
  return nullptr;
}

void setBarrier(const pthread_barrier_t* object, unsigned count) {
  pthread_mutex_lock(&changing);
  Barrier* place = find(object);
  if (place == nullptr && count != 0) place = find(nullptr);
  if (place != nullptr) *place = {count == 0 ? nullptr : object, count, 0, 0};
  pthread_mutex_unlock(&changing);
}

int waitAtBarrier(Barrier& barrier, const pthread_barrier_t* object) {
  pthread_mutex_lock(&changing);
  if (++barrier.arrived == barrier.count) {
    barrier.arrived = 0;
    __atomic_add_fetch(&barrier.round, 1U, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&changing);
    (void)wakeWaiting(object, static_cast<int>(barrier.count) - 1);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  const unsigned round = barrier.round;
  pthread_mutex_unlock(&changing);
  for (;;) {
    ThreadWait wait(object);
    if (__atomic_load_n(&barrier.round, __ATOMIC_SEQ_CST) != round) return 0;
    (void)wait.sleep(kForEver);
  }
}

// In the child of a fork a thread that held it isn't there.
__attribute__((constructor)) void unlockInChildren() {
  pthread_atfork(nullptr, nullptr, [] { pthread_mutex_init(&changing, nullptr); });
}

}  // namespace

HCASIM_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return isOurs(condition) ? waitOrdered(condition, mutex, kForEver) : waitReal(condition, mutex);
}
HCASIM_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* end) {
  if (!hasVirtualTime() || !isOurs(condition)) return timedwaitReal(condition, mutex, end);
  return waitOrdered(condition, mutex, leftUntil(*end));
}
HCASIM_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                         const timespec* end) {
  if (!hasVirtualTime() || !isOurs(condition)) return pthread_cond_clockwaitReal(condition, mutex, clock, end);
  return waitOrdered(condition, mutex, leftUntil(*end));
}
// Some may wait in the C library: they began before the device was open, or for a limited real time.
HCASIM_EXPORT int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  const int error = signalReal(condition);
  if (waitingThreads() != 0 && !isInSimulation()) (void)wakeWaiting(condition, 1);
  return error;
}
HCASIM_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  const int error = broadcastReal(condition);
  if (waitingThreads() != 0 && !isInSimulation()) (void)wakeWaiting(condition, kAll);
  return error;
}

HCASIM_EXPORT int sem_wait(sem_t* semaphore) {
  return isOurs(semaphore) ? waitOrdered(semaphore, nullptr) : sem_waitReal(semaphore);
}
HCASIM_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* end) {
  return hasVirtualTime() && isOurs(semaphore) ? waitOrdered(semaphore, end) : sem_timedwaitReal(semaphore, end);
}
HCASIM_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* end) {
  return hasVirtualTime() && isOurs(semaphore) ? waitOrdered(semaphore, end) : sem_clockwaitReal(semaphore, clock, end);
}
HCASIM_EXPORT int sem_post(sem_t* semaphore) noexcept {
  const int error = sem_postReal(semaphore);
  if (error == 0 && waitingThreads() != 0 && !isInSimulation()) (void)wakeWaiting(semaphore, 1);
  return error;
}

HCASIM_EXPORT int pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes,
                                       unsigned count) noexcept {
  const int error = pthread_barrier_initReal(barrier, attributes, count);
  if (error != 0 || settings().runFolder == nullptr) return error;
  int sharing = PTHREAD_PROCESS_PRIVATE;
  if (attributes != nullptr) pthread_barrierattr_getpshared(attributes, &sharing);
  setBarrier(barrier, sharing == PTHREAD_PROCESS_PRIVATE ? count : 0);
  return 0;
}
HCASIM_EXPORT int pthread_barrier_destroy(pthread_barrier_t* barrier) noexcept {
  setBarrier(barrier, 0);
  return pthread_barrier_destroyReal(barrier);
}
HCASIM_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  Barrier* ours = find(barrier);
  return ours == nullptr ? pthread_barrier_waitReal(barrier) : waitAtBarrier(*ours, barrier);
}

// The C library's limited waits for other threads, in simulated time. Such a wait looks again and again; a condition
// variable may wake up for no reason in between.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "verbs_shim/channel_client.h"
#include "verbs_shim/real_calls.h"
#include "verbs_shim/virtual_time.h"

using namespace hca::shim;

HCASIM_REAL(pthread_cond_clockwait);
HCASIM_REAL(sem_clockwait);
HCASIM_REAL(sem_timedwait);

namespace {

constexpr int64_t kPerSecond = 1000000000;

// The C library has two functions of this name; the newer one is meant.
int timedwaitReal(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* end) {
  using Function = int (*)(pthread_cond_t*, pthread_mutex_t*, const timespec*);
  static Function function = nullptr;
  if (function == nullptr) {
    function = reinterpret_cast<Function>(dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2"));
  }
  return function(condition, mutex, end);
}

bool isVirtual() { return hasVirtualTime() && isConnected(); }

// What is left until `end`, a time of the wall clock or of the uptime: they lie decades apart.
int64_t leftUntil(const timespec& end) {
  constexpr int64_t kYear = 31536000;
  const uint64_t offset = end.tv_sec > kYear ? wallOffset() : uptimeOffset();
  return end.tv_sec * kPerSecond + end.tv_nsec - static_cast<int64_t>(virtualNow() / 1000 + offset);
}

timespec realSlice() {
  timespec end{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &end);
  end.tv_nsec += kRealSlice;
  if (end.tv_nsec >= kPerSecond) {
    end.tv_nsec -= kPerSecond;
    ++end.tv_sec;
  }
  return end;
}

// How long this thread waits for the same already: a wait that woke up for no reason is one with the next.
struct Waited {
  const void* object;
  int64_t end;
  int64_t time;
};
__attribute__((tls_model("initial-exec"))) __thread Waited waited;

int64_t sliceOf(const void* object, const timespec& end, int64_t left) {
  const int64_t at = end.tv_sec * kPerSecond + end.tv_nsec;
  if (waited.object != object || waited.end != at) waited = {object, at, 0};
  const int64_t slice = virtualSlice(waited.time);
  waited.time += slice;
  return slice < left ? slice : left;
}

int waitVirtually(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* end) {
  const int64_t left = leftUntil(*end);
  if (left <= 0) return ETIMEDOUT;
  const timespec slice = realSlice();
  const int error = pthread_cond_clockwaitReal(condition, mutex, CLOCK_MONOTONIC, &slice);
  if (error != ETIMEDOUT) return error;
  pthread_mutex_unlock(mutex);
  virtualSleep(static_cast<uint64_t>(sliceOf(condition, *end, left)));
  pthread_mutex_lock(mutex);
  return leftUntil(*end) <= 0 ? ETIMEDOUT : 0;
}

int waitVirtually(sem_t* semaphore, const timespec* end) {
  for (;;) {
    const timespec slice = realSlice();
    const int64_t left = leftUntil(*end);
    if (left <= 0 && sem_trywait(semaphore) == 0) return 0;
    if (left <= 0) {
      errno = ETIMEDOUT;
      return -1;
    }
    if (sem_clockwaitReal(semaphore, CLOCK_MONOTONIC, &slice) == 0) return 0;
    if (errno != ETIMEDOUT) return -1;
    virtualSleep(static_cast<uint64_t>(sliceOf(semaphore, *end, left)));
  }
}

}  // namespace

HCASIM_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* end) {
  return isVirtual() ? waitVirtually(condition, mutex, end) : timedwaitReal(condition, mutex, end);
}
HCASIM_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                         const timespec* end) {
  return isVirtual() ? waitVirtually(condition, mutex, end) : pthread_cond_clockwaitReal(condition, mutex, clock, end);
}
HCASIM_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* end) {
  return isVirtual() ? waitVirtually(semaphore, end) : sem_timedwaitReal(semaphore, end);
}
HCASIM_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* end) {
  return isVirtual() ? waitVirtually(semaphore, end) : sem_clockwaitReal(semaphore, clock, end);
}

// The C library's functions that make threads and wait for their end: the simulation knows a thread from its first
// instant on, and when it ended, so that simulated time doesn't depend on how fast the machine makes threads.
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "verbs_shim/channel_client.h"
#include "verbs_shim/real_calls.h"
#include "verbs_shim/virtual_time.h"

using namespace hca::shim;

HCASIM_REAL(pthread_create);
HCASIM_REAL(pthread_join);
HCASIM_REAL(pthread_cancel);

namespace {

// Threads that were made since the device was opened, until they are joined. With no room for more, further ones are
// unknown until they call.
constexpr int kMost = 1024;
struct Thread {
  bool isTaken;
  int number;  // the kernel's
  pthread_t handle;
};
Thread threads[kMost];
pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

constexpr int kUnknown = -1;
struct Start {
  void* (*routine)(void*);
  void* argument;
  int number;  // 0 until the thread is attached
};

void* begin(void* opaque) {
  auto* start = static_cast<Start*>(opaque);
  const Start own = *start;
  const int number = attachThread() ? static_cast<int>(syscall(SYS_gettid)) : kUnknown;
  __atomic_store_n(&start->number, number, __ATOMIC_RELEASE);
  // It begins where its maker lets it, like every thread that comes back from a call.
  virtualSleep(0);
  return own.routine(own.argument);
}

void keep(pthread_t handle, int number) {
  pthread_mutex_lock(&changing);
  Thread* place = nullptr;
  // A handle that comes again belongs to a thread that was never joined.
  for (Thread& thread : threads) {
    if (thread.isTaken && pthread_equal(thread.handle, handle) != 0) place = &thread;
  }
  for (Thread& thread : threads) {
    if (place == nullptr && !thread.isTaken) place = &thread;
  }
  if (place != nullptr) *place = {true, number, handle};
  pthread_mutex_unlock(&changing);
}

// The kernel's number; 0 if the thread isn't known. `isJoined`: it needn't be known any more.
int find(pthread_t handle, bool isJoined) {
  int number = 0;
  pthread_mutex_lock(&changing);
  for (Thread& thread : threads) {
    if (!thread.isTaken || pthread_equal(thread.handle, handle) == 0) continue;
    number = thread.number;
    thread.isTaken = !isJoined;
  }
  pthread_mutex_unlock(&changing);
  return number;
}

// In the child of a fork a thread that held it isn't there.
__attribute__((constructor)) void unlockInChildren() {
  pthread_atfork(nullptr, nullptr, [] { pthread_mutex_init(&changing, nullptr); });
}

}  // namespace

HCASIM_EXPORT int pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*routine)(void*),
                                 void* argument) noexcept {
  if (!isConnected() || isInSimulation()) return pthread_createReal(handle, attributes, routine, argument);
  Start start{routine, argument, 0};
  const int error = pthread_createReal(handle, attributes, begin, &start);
  if (error != 0) return error;
  // Not asleep: time would go on.
  while (__atomic_load_n(&start.number, __ATOMIC_ACQUIRE) == 0) syscall(SYS_sched_yield);
  if (start.number != kUnknown) keep(*handle, start.number);
  return 0;
}

HCASIM_EXPORT int pthread_join(pthread_t handle, void** result) {
  const int number = isConnected() && !isInSimulation() ? find(handle, true) : 0;
  if (number == 0) return pthread_joinReal(handle, result);
  hca::channel::Request request;
  clear(request, hca::channel::Kind::kJoinThread);
  request.argument[0] = static_cast<uint64_t>(number);
  hca::channel::Reply reply{};
  // A handler ran meanwhile, or this thread is to be cancelled.
  while (call(request, reply) == hca::channel::kNothingPending) pthread_testcancel();
  // It is about to leave: the simulation waits for that as long as this does.
  constexpr int kYields = 50, kPatience = 500;
  constexpr timespec kMoment{0, 20'000};
  int error = EBUSY;
  for (int i = 0; i < kPatience && error == EBUSY; ++i) {
    error = pthread_tryjoin_np(handle, result);
    if (error != EBUSY) break;
    i < kYields ? syscall(SYS_sched_yield) : syscall(SYS_nanosleep, &kMoment, nullptr);
  }
  return error == EBUSY ? pthread_joinReal(handle, result) : error;
}

// A thread that waits in the simulation looks around.
HCASIM_EXPORT int pthread_cancel(pthread_t handle) {
  const int error = pthread_cancelReal(handle);
  const int number = isConnected() && !isInSimulation() ? find(handle, false) : 0;
  if (error != 0 || number == 0) return error;
  hca::channel::Request request;
  clear(request, hca::channel::Kind::kInterruptThread);
  request.argument[0] = static_cast<uint64_t>(number);
  hca::channel::Reply reply{};
  (void)call(request, reply);
  return 0;
}

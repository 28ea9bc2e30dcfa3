// Waits of the program's threads for each other, in simulated time.
#pragma once

#include <stdint.h>
#include <time.h>

namespace hca::shim {

/// Whether waits of this thread for others are the simulation's: it is connected, and this isn't its own code.
[[nodiscard]] bool ordersThreads();

/// How a wait ended.
enum class WaitEnd {
  kWoken,
  kTimedOut,
  kInterrupted,  ///< a signal came, or the thread is to be cancelled; a handler ran already
};

/// This thread stands in the queue of those that wait for `object`, from its construction on. A queue is served in the
/// order in which threads came. Whoever waits for something enters the queue, looks once more, and sleeps: then no
/// change of it is missed. A wake-up that came to a thread that didn't sleep any more goes to the next one.
class ThreadWait {
 public:
  explicit ThreadWait(const void* object);
  ~ThreadWait();
  ThreadWait(const ThreadWait&) = delete;
  ThreadWait& operator=(const ThreadWait&) = delete;

  /// Until it is woken. `nanoseconds` of simulated time at most; less than 0: no limit.
  WaitEnd sleep(int64_t nanoseconds);

 private:
  friend int wakeWaiting(const void* object, int most);
  [[nodiscard]] bool isWoken() const { return __atomic_load_n(&isWoken_, __ATOMIC_ACQUIRE) != 0; }
  bool leave();
  void unlink();
  WaitEnd sleepReally();

  const void* object_;
  ThreadWait* before_ = nullptr;
  ThreadWait* next_ = nullptr;
  uint64_t turn_ = 0;
  int thread_;
  bool isReal_;  // without a simulation
  bool isServed_ = false;
  uint32_t isWoken_ = 0;  // out of the queue
};

/// How many threads wait for anything: a look that costs next to nothing.
[[nodiscard]] unsigned waitingThreads();
/// Wakes up to `most` threads that wait for `object`. Returns how many.
int wakeWaiting(const void* object, int most);
constexpr int kAll = INT32_MAX;

/// What is left until `end`, a time of the wall clock or of the uptime, in nanoseconds of simulated time.
[[nodiscard]] int64_t leftUntil(const timespec& end);

/// In the child of a fork: nobody waits.
void forgetWaits();

}  // namespace hca::shim

#include "verbs_shim/thread_waits.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "verbs_shim/channel/futex.h"
#include "verbs_shim/channel_client.h"
#include "verbs_shim/virtual_time.h"
#include "verbs_shim/virtual_timers.h"

namespace hca::shim {
namespace {

ThreadWait* first = nullptr;
ThreadWait* last = nullptr;
unsigned waiting = 0;
uint64_t nextTurn = 0;
unsigned isChanging = 0;

// For a few instructions; no handler of the program runs meanwhile, which could want the same.
class Changing {
 public:
  Changing() {
    while (__atomic_exchange_n(&isChanging, 1U, __ATOMIC_ACQUIRE) != 0) syscall(SYS_sched_yield);
  }
  ~Changing() { __atomic_store_n(&isChanging, 0U, __ATOMIC_RELEASE); }

 private:
  Undisturbed undisturbed_;
};

int wakeThread(int thread) {
  channel::Request request;
  channel::clear(request, channel::Kind::kUnpark);
  request.argument[0] = static_cast<uint64_t>(thread);
  channel::Reply reply{};
  return call(request, reply);
}

// Until it is woken, or for so long; 0: no limit.
int park(int64_t nanoseconds) {
  channel::Request request;
  channel::clear(request, channel::Kind::kPark);
  request.argument[1] = static_cast<uint64_t>(nanoseconds);
  channel::Reply reply{};
  return call(request, reply);
}

}  // namespace

bool ordersThreads() { return isConnected() && !isInSimulation(); }

unsigned waitingThreads() { return __atomic_load_n(&waiting, __ATOMIC_SEQ_CST); }

ThreadWait::ThreadWait(const void* object)
    : object_(object), thread_(static_cast<int>(syscall(SYS_gettid))), isReal_(!ordersThreads()) {
  const Changing changing;
  turn_ = nextTurn++;
  before_ = last;
  (last == nullptr ? first : last->next_) = this;
  last = this;
  __atomic_add_fetch(&waiting, 1U, __ATOMIC_SEQ_CST);
}

ThreadWait::~ThreadWait() {
  if (!isServed_ && !leave()) (void)wakeWaiting(object_, 1);
}

void ThreadWait::unlink() {
  (before_ == nullptr ? first : before_->next_) = next_;
  (next_ == nullptr ? last : next_->before_) = before_;
  __atomic_sub_fetch(&waiting, 1U, __ATOMIC_SEQ_CST);
}

// False if it was woken meanwhile.
bool ThreadWait::leave() {
  const Changing changing;
  if (isWoken()) return false;
  unlink();
  __atomic_store_n(&isWoken_, 1U, __ATOMIC_RELEASE);
  isServed_ = true;
  return true;
}

WaitEnd ThreadWait::sleepReally() {
  constexpr timespec kLook{0, 50'000'000};
  const unsigned before = handledSignals();
  while (!isWoken() && handledSignals() == before) channel::futexWait(&isWoken_, 0, &kLook);
  if (!isWoken() && leave()) return WaitEnd::kInterrupted;
  isServed_ = true;
  return WaitEnd::kWoken;
}

WaitEnd ThreadWait::sleep(int64_t nanoseconds) {
  const auto present = [] { return static_cast<int64_t>(virtualNow() / 1000); };
  const int64_t end = nanoseconds < 0 ? INT64_MAX : present() + nanoseconds;
  while (!isWoken()) {
    // Simulated time that nobody simulates any more is over.
    if (isReal_ && nanoseconds >= 0 && leave()) return WaitEnd::kTimedOut;
    if (isReal_) return sleepReally();
    const bool isLimited = nanoseconds >= 0 || hasTimers();
    const int64_t now = isLimited ? present() : 0;
    if (nanoseconds >= 0 && now >= end) {
      if (leave()) return WaitEnd::kTimedOut;
      break;
    }
    const unsigned before = handledSignals();
    const int result = park(isLimited ? untilNextTimer(now, nanoseconds < 0 ? -1 : end - now) : 0);
    if (isWoken()) break;
    const bool isInterrupted = result == channel::kNothingPending || handledSignals() != before;
    if (isInterrupted && leave()) return WaitEnd::kInterrupted;
    if (result > 0) isReal_ = true;  // there is no simulation any more
  }
  isServed_ = true;
  return WaitEnd::kWoken;
}

int wakeWaiting(const void* object, int most) {
  int count = 0;
  // Who comes back to the queue meanwhile has had its turn.
  uint64_t end = 0;
  {
    const Changing changing;
    end = nextTurn;
  }
  // One after the other: each goes on at the time at which it was woken.
  for (; count < most && waitingThreads() != 0; ++count) {
    ThreadWait* found = nullptr;
    int thread = 0;
    bool isReal = false;
    {
      const Changing changing;
      for (ThreadWait* each = first; each != nullptr && each->turn_ < end && found == nullptr; each = each->next_) {
        if (each->object_ == object) found = each;
      }
      if (found == nullptr) break;
      found->unlink();
      thread = found->thread_;
      isReal = found->isReal_;
      __atomic_store_n(&found->isWoken_, 1U, __ATOMIC_RELEASE);
    }
    // Its stack may hold something else by now; then somebody looks once more for nothing.
    if (isReal) channel::futexWake(&found->isWoken_);
    if (!isReal) (void)wakeThread(thread);
  }
  return count;
}

int64_t leftUntil(const timespec& end) {
  // The two clocks lie decades apart.
  constexpr int64_t kYear = 31536000, kPerSecond = 1000000000;
  const uint64_t offset = end.tv_sec > kYear ? wallOffset() : uptimeOffset();
  const int64_t left = end.tv_sec * kPerSecond + end.tv_nsec - static_cast<int64_t>(virtualNow() / 1000 + offset);
  return left < 0 ? 0 : left;
}

void forgetWaits() {
  first = last = nullptr;
  waiting = isChanging = 0;
}

}  // namespace hca::shim

// Futexes without the C library: waits of a program's own locks, and of C++'s futures and atomics, in simulated time.
#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "verbs_shim/channel_client.h"
#include "verbs_shim/real_calls.h"
#include "verbs_shim/thread_waits.h"
#include "verbs_shim/virtual_time.h"

using namespace hca::shim;

namespace {

struct FutexCall {
  const uint32_t* word;
  int operation;
  uint32_t value;
  const timespec* timeout;
  long fifth;
  long sixth;
};

// As the kernel answers: the negative errno of a failure.
long callKernel(const FutexCall& call) {
  long result = SYS_futex;
  register long fourth asm("r10") = reinterpret_cast<long>(call.timeout);
  register long fifth asm("r8") = call.fifth;
  register long sixth asm("r9") = call.sixth;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(call.word), "S"(call.operation), "d"(call.value), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
}

// Whether other processes may wait for it, or wake it.
bool isShared(const FutexCall& call) {
  if ((call.operation & FUTEX_PRIVATE_FLAG) != 0) return false;
  // A futex that isn't marked as private can still be: most of C++'s are in ordinary memory.
  FILE* maps = fopen("/proc/self/maps", "re");
  if (maps == nullptr) return true;
  bool isShared = true;
  char line[512];
  const auto address = reinterpret_cast<uintptr_t>(call.word);
  while (fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin = 0, end = 0;
    char rights[5] = "";
    if (sscanf(line, "%lx-%lx %4s", &begin, &end, rights) == 3 && begin <= address && address < end) {
      isShared = rights[3] != 'p';
      break;
    }
  }
  fclose(maps);
  return isShared;
}

long waitOrdered(const FutexCall& call) {
  const int command = call.operation & FUTEX_CMD_MASK;
  int64_t left = -1;
  if (call.timeout != nullptr) {
    constexpr int64_t kPerSecond = 1000000000;
    const bool isAbsolute = command == FUTEX_WAIT_BITSET;
    left = isAbsolute ? leftUntil(*call.timeout) : call.timeout->tv_sec * kPerSecond + call.timeout->tv_nsec;
  }
  WaitEnd end = WaitEnd::kWoken;
  const unsigned handled = handledSignals();
  {
    ThreadWait wait(call.word);
    if (__atomic_load_n(call.word, __ATOMIC_SEQ_CST) != call.value) return -EAGAIN;
    end = wait.sleep(left);
  }
  if (end == WaitEnd::kTimedOut) return -ETIMEDOUT;
  // Somebody may have woken it for nothing; that is allowed.
  return end == WaitEnd::kInterrupted && handledSignals() != handled && !wasRestarted() ? -EINTR : 0;
}

long wakeOrdered(const FutexCall& call) {
  const int most = static_cast<int>(call.value);
  const int woken = wakeWaiting(call.word, most);
  if (woken >= most) return woken;
  FutexCall rest = call;
  rest.value = static_cast<uint32_t>(most - woken);
  const long others = callKernel(rest);
  return others < 0 && woken == 0 ? others : woken + (others < 0 ? 0 : others);
}

long futex(const FutexCall& call) {
  if (!ordersThreads()) return callKernel(call);
  const int command = call.operation & FUTEX_CMD_MASK;
  const bool isWait = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
  // A wait for a limited time is for real time where the program lives in it.
  const bool isOurs = isWait && (call.timeout == nullptr || hasVirtualTime());
  if (isOurs && !isShared(call)) return waitOrdered(call);
  if (isWait) return callKernel(call);
  if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) return wakeOrdered(call);
  // Whoever was to be moved to another word looks for itself.
  if (waitingThreads() != 0) (void)wakeWaiting(call.word, kAll);
  return callKernel(call);
}

}  // namespace

extern "C" __attribute__((visibility("hidden"), used)) long hcasim_futex(const uint32_t* word, int operation,
                                                                         uint32_t value, const timespec* timeout,
                                                                         long fifth, long sixth) {
  const int before = errno;
  const long result = futex({word, operation, value, timeout, fifth, sixth});
  errno = result < 0 ? static_cast<int>(-result) : before;
  return result < 0 ? -1 : result;
}
extern "C" __attribute__((visibility("hidden"), used)) long hcasim_call_failed(long error) {
  errno = static_cast<int>(-error);
  return -1;
}

// All other calls go to the kernel as the C library's function lets them: without a frame of its own, since some of
// them return twice.
HCASIM_EXPORT __attribute__((naked)) long syscall(long, ...) noexcept {
  asm("movq %rdi, %rax\n\t"
      "movq %rsi, %rdi\n\t"
      "movq %rdx, %rsi\n\t"
      "movq %rcx, %rdx\n\t"
      "movq %r8, %r10\n\t"
      "movq %r9, %r8\n\t"
      "movq 8(%rsp), %r9\n\t"
      "cmpq $202, %rax\n\t"  // SYS_futex
      "je 1f\n\t"
      "syscall\n\t"
      "cmpq $-4095, %rax\n\t"
      "jae 2f\n\t"
      "ret\n"
      "1:\n\t"
      "movq %r10, %rcx\n\t"
      "jmp hcasim_futex\n"
      "2:\n\t"
      "movq %rax, %rdi\n\t"
      "jmp hcasim_call_failed");
}

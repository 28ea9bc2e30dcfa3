// How threads that hand work to each other get their processor soon.
#pragma once

#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hca::channel {

/// Asks the kernel for short time slices for the calling thread: then it is let in sooner when it wakes up, at the same
/// share of the processor. Kernels before Linux 6.12 ignore it (sched(7), sched_setattr(2)).
inline void wantShortSlices() {
  struct Attributes {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime;  // of a slice, nanoseconds
    uint64_t deadline;
    uint64_t period;
  };
  constexpr uint64_t kShortest = 100'000;
  const int nice = getpriority(PRIO_PROCESS, 0);
  Attributes attributes{sizeof(Attributes), 0, 0, nice, 0, kShortest, 0, 0};
  // A thread of another policy than the standard one was given it on purpose.
  Attributes present{};
  if (syscall(SYS_sched_getattr, 0, &present, sizeof present, 0) != 0 || present.policy != 0) return;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace hca::channel

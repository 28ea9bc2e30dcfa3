// Sleeping on a word of shared memory.
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace hca::channel {

/// Until somebody wakes the word, `*word` isn't `value` any more, or `timeout` is over.
inline void futexWait(uint32_t* word, uint32_t value, const timespec* timeout) {
  syscall(SYS_futex, word, FUTEX_WAIT, value, timeout, nullptr, 0);
}
inline void futexWake(uint32_t* word) { syscall(SYS_futex, word, FUTEX_WAKE, 1, nullptr, nullptr, 0); }

/// For how often a thread looks at a word before it sleeps: some ten microseconds, less than being woken up takes. Not
/// at all on a single processor, where nobody could change the word meanwhile.
inline unsigned looksBeforeSleep() {
  constexpr unsigned kLooks = 400;
  cpu_set_t processors;
  return sched_getaffinity(0, sizeof processors, &processors) == 0 && CPU_COUNT(&processors) > 1 ? kLooks : 0;
}
/// False if `*word` is still `value` after that many looks.
inline bool hasChangedSoon(const uint32_t* word, uint32_t value, unsigned looks) {
  for (unsigned i = 0; i < looks; ++i) {
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) return true;
    __builtin_ia32_pause();
  }
  return false;
}

}  // namespace hca::channel

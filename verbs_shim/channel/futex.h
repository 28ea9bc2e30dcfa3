// Sleeping on a word of shared memory.
#pragma once

#include <linux/futex.h>
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

}  // namespace hca::channel

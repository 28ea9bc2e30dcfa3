#include "verbs_shim/fatal_event.h"

#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <stdint.h>
#include <unistd.h>

#include "verbs_shim/real_calls.h"

HCASIM_REAL(write);
HCASIM_REAL(close);
HCASIM_REAL(fcntl);

namespace hca::shim {
namespace {

constexpr int kMost = 64;
int ends[kMost];  // + 1; 0: none

}  // namespace

bool keepForFatal(int writeEnd) {
  // Out of the way of programs that count on small numbers.
  constexpr int kHigh = 900;
  const int kept = fcntlReal(writeEnd, F_DUPFD_CLOEXEC, kHigh);
  if (kept < 0) return false;
  for (int& end : ends) {
    int none = 0;
    if (!__atomic_compare_exchange_n(&end, &none, kept + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
    closeReal(writeEnd);
    return true;
  }
  closeReal(kept);
  return false;
}

void reportFatal() {
  constexpr uint32_t kDeviceFatal = 8;  // IBV_EVENT_DEVICE_FATAL of infiniband/verbs.h
  ib_uverbs_async_event_desc event{};
  event.event_type = kDeviceFatal;
  for (int& end : ends) {
    const int taken = __atomic_exchange_n(&end, 0, __ATOMIC_RELAXED);
    if (taken == 0) continue;
    (void)!writeReal(taken - 1, &event, sizeof event);
    closeReal(taken - 1);
  }
}

void forgetFatal() {
  for (int& end : ends) {
    if (end != 0) closeReal(end - 1);
    end = 0;
  }
}

}  // namespace hca::shim

// How a preload library reaches a simulation in another process.
#pragma once

#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

#include "verbs_shim/channel/futex.h"
#include "verbs_shim/channel/shared_memory.h"

namespace hca::shim {

/// A connection to the socket at `path`, out of the way of programs that count on small numbers; -1 if nobody is there.
int openConnection(const char* path);
/// Only the process at the other end may look into this one, besides whom the system lets do so anyway.
void admitPeer(int connection);
/// The descriptors of both areas; false if none came.
bool receiveWelcome(int connection, int (&descriptors)[2]);
[[nodiscard]] bool hasPeerEnded(int connection);
void ringDoorbell(channel::Doorbell& doorbell);
/// Memory of `length` bytes behind a descriptor that came, which is closed; nullptr if it can't be had.
void* mapDescriptor(int descriptor, uint64_t length);

template <class Struct>
Struct* mapShared(int descriptor) {
  return static_cast<Struct*>(mapDescriptor(descriptor, sizeof(Struct)));
}

/// A free slot, which is idle and the caller's from now on; kSlots if there is none.
template <class Area>
uint32_t takeSlot(Area& area, int threadId) {
  using channel::SlotState;
  for (uint32_t i = 0; i < Area::kSlots; ++i) {
    auto& slot = area.slots[i];
    uint32_t expected = static_cast<uint32_t>(SlotState::kFree);
    if (!__atomic_compare_exchange_n(&slot.state, &expected, static_cast<uint32_t>(SlotState::kIdle), false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      continue;
    }
    slot.threadId = threadId;
    uint32_t used = __atomic_load_n(&area.used, __ATOMIC_RELAXED);
    while (used <= i &&
           !__atomic_compare_exchange_n(&area.used, &used, i + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
    return i;
  }
  return Area::kSlots;
}

/// Waits for the answer in a slot that was submitted; `onWake` is called at every look. False if the simulation ended.
template <class Slot, class OnWake>
bool awaitAnswer(Slot& slot, int connection, unsigned looks, OnWake&& onWake) {
  constexpr timespec kLook{0, 200'000'000};  // whether the simulation is still there
  constexpr auto kAnswered = static_cast<uint32_t>(channel::SlotState::kAnswered);
  for (;;) {
    const uint32_t state = __atomic_load_n(&slot.state, __ATOMIC_ACQUIRE);
    if (state == kAnswered) return true;
    if (channel::hasChangedSoon(&slot.state, state, looks)) continue;
    channel::futexWait(&slot.state, state, &kLook);
    onWake();
    if (__atomic_load_n(&slot.state, __ATOMIC_ACQUIRE) != kAnswered && hasPeerEnded(connection)) return false;
  }
}

}  // namespace hca::shim

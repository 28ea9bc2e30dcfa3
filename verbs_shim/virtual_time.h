// The time in which the program lives, with --virtual-time.
#pragma once

#include <stdint.h>

namespace hca::shim {

/// Whether this thread sees simulated time.
[[nodiscard]] bool hasVirtualTime();

/// Simulated picoseconds. Before the program opened its device no simulation is there that could tell; then each look
/// lets some time pass.
[[nodiscard]] uint64_t virtualNow();
/// The same for a thread whose clock shows `clock` picoseconds at the simulation.
[[nodiscard]] uint64_t virtualTimeOf(uint64_t clock);
/// Of the program's clocks, nanoseconds after their beginnings.
[[nodiscard]] uint64_t wallOffset();
[[nodiscard]] uint64_t uptimeOffset();
/// What the time stamp counter shows at `picoseconds`.
[[nodiscard]] uint64_t virtualTsc(uint64_t picoseconds);

/// Sleeps in simulated time; false if there is no simulation yet.
bool virtualSleep(uint64_t nanoseconds);

/// A wait for something of others, of which nobody tells when it comes: how long to look for it really, and how long to
/// sleep in simulated time before the next look, after `waited` nanoseconds of simulated time. Nobody is much later
/// than an eighth of what it waited.
constexpr int64_t kRealSlice = 200'000;
[[nodiscard]] inline int64_t virtualSlice(int64_t waited) {
  constexpr int64_t kFirst = 50'000, kLongest = 100'000'000;
  const int64_t part = waited / 8;
  return part < kFirst ? kFirst : part > kLongest ? kLongest : part;
}

/// From now on reading the time stamp counter traps, in this thread and those that it makes.
void trapTsc();
/// Carries a trapped read out; false if the instruction at the context's counter is none. `context`: a ucontext_t.
bool emulateTsc(void* context);

}  // namespace hca::shim

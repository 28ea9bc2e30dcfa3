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

/// From now on reading the time stamp counter traps, in this thread and those that it makes.
void trapTsc();
/// Carries a trapped read out; false if the instruction at the context's counter is none. `context`: a ucontext_t.
bool emulateTsc(void* context);

}  // namespace hca::shim

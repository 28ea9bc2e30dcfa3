// One machine instruction that accesses a register, as its effect on a message and on the processor's registers.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

namespace hca::shim {

/// Carries the instruction at the context's program counter out: sends what it stores or asks for what it loads, and
/// moves the program counter behind it. A run of eight-byte stores within 64 bytes, loads from ordinary memory between
/// them included, goes out as one write, as a processor's write-combining buffer would. False if the instruction is
/// none that this code knows; then nothing happened.
bool emulateAccess(ucontext_t& context, uintptr_t faultAddress);

}  // namespace hca::shim

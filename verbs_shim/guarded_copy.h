// Copies memory that may not be there.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace hca::shim {

/// 0, or not 0 if any byte could not be read or written (then an unknown part of `to` was written).
extern "C" int hcasim_guarded_copy(void* to, const void* from, size_t length);
inline int guardedCopy(void* to, const void* from, size_t length) { return hcasim_guarded_copy(to, from, length); }

/// The same for eight bytes, at a tenth of the cost.
extern "C" int hcasim_guarded_load(void* to, const void* from);
inline int guardedLoad(void* to, const void* from) { return hcasim_guarded_load(to, from); }

/// Where a fault at instruction `address` has to go on, if the copy caused it; 0 for any other instruction.
[[nodiscard]] uintptr_t guardedCopyLanding(uintptr_t address);

}  // namespace hca::shim

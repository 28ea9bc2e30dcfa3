// The pages of the program behind which registers are.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace hca::shim {

struct RegisterPage {
  uintptr_t address;
  size_t length;
  uint64_t page;  ///< its number at the simulation
};

/// False if there is no room for more.
bool addPage(const RegisterPage& page);
/// Forgets the pages in [address, address + length).
void removePages(uintptr_t address, size_t length);
/// nullptr if no register is there. Safe in a signal handler.
[[nodiscard]] const RegisterPage* findPage(uintptr_t address);
/// In the child of a fork, before anything else: a thread of the parent's may have been about to change something.
void unlockPages();
/// In the child of a fork that has no simulation.
void forgetPages();

}  // namespace hca::shim

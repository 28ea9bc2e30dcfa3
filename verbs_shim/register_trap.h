// Turns accesses to register pages into messages.
#pragma once

#include <signal.h>

namespace hca::shim {

/// Takes SIGSEGV and SIGBUS; what the program had installed, or installs later, gets every other fault.
void installTrap();
[[nodiscard]] bool isTrapInstalled();
/// Whether the thread is about to carry an access out.
[[nodiscard]] bool isInTrap();

/// sigaction for `signal` as the program sees it, while the trap has the signal; false for other signals.
bool programAction(int signal, const struct sigaction* action, struct sigaction* before);

}  // namespace hca::shim

// Turns accesses to register pages into messages.
#pragma once

#include <signal.h>

namespace hca::shim {

/// Takes SIGSEGV and SIGBUS; what the program had installed, or installs later, gets every other fault.
void installTrap();
[[nodiscard]] bool isTrapInstalled();
/// `emulate` is asked first about faults of the processor itself (a read of a trapped counter): true if it carried the
/// instruction at the context's counter out. `context`: a ucontext_t.
void trapInstructions(bool (*emulate)(void* context));
/// Whether the thread is about to carry an access out.
[[nodiscard]] bool isInTrap();

/// sigaction for `signal` as the program sees it, while the trap has the signal; false for other signals.
bool programAction(int signal, const struct sigaction* action, struct sigaction* before);

}  // namespace hca::shim

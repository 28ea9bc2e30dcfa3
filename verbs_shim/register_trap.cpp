#include "verbs_shim/register_trap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "verbs_shim/guarded_copy.h"
#include "verbs_shim/real_calls.h"
#include "verbs_shim/register_access.h"
#include "verbs_shim/register_pages.h"
#include "verbs_shim/settings.h"
#include "verbs_shim/trap_return.h"

namespace hca::shim {
namespace {

RealCall<int (*)(int, const struct sigaction*, struct sigaction*)> realSigaction("sigaction");

bool isInstalled = false;
bool (*emulateInstruction)(void* context) = nullptr;
__attribute__((tls_model("initial-exec"))) __thread bool isTrapped = false;
struct sigaction programActions[2];  // of SIGSEGV and SIGBUS

struct sigaction* actionOf(int signal) {
  if (signal == SIGSEGV) return &programActions[0];
  return signal == SIGBUS ? &programActions[1] : nullptr;
}

// Hands a fault that is the program's own to its handler; without one, the default action at the same instruction.
void chain(int signal, siginfo_t* info, void* context) {
  const struct sigaction& action = *actionOf(signal);
  const bool isDefault = (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
  const bool isIgnored = (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
  if (isDefault || isIgnored) {
    struct sigaction standard;
    memset(&standard, 0, sizeof standard);
    standard.sa_handler = SIG_DFL;
    realSigaction(signal, &standard, nullptr);
    return;
  }
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, &before);
  pthread_sigmask(SIG_BLOCK, &action.sa_mask, nullptr);
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void onFault(int signal, siginfo_t* info, void* opaque) {
  const int savedErrno = errno;
  auto& context = *static_cast<ucontext_t*>(opaque);
  greg_t& counter = context.uc_mcontext.gregs[REG_RIP];
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (const uintptr_t landing = guardedCopyLanding(static_cast<uintptr_t>(counter)); landing != 0) {
    counter = static_cast<greg_t>(landing);
  } else if (signal == SIGSEGV && findPage(address) != nullptr) {
    isTrapped = true;
    const bool isDone = emulateAccess(context, address);
    isTrapped = false;
    if (!isDone) {
      complain("an instruction at %#llx accesses a device register in a way that hcasim does not know",
               static_cast<unsigned long long>(counter));
      abort();
    }
    errno = savedErrno;
    returnFromTrap(context);
  } else if (signal != SIGSEGV || info->si_code != SI_KERNEL || emulateInstruction == nullptr ||
             !emulateInstruction(opaque)) {
    chain(signal, info, opaque);
  }
  errno = savedErrno;
}

}  // namespace

void installTrap() {
  if (isInstalled) return;
  isInstalled = true;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = onFault;
  // Faults within the handler are those of guarded copies. Other signals are not blocked (see returnFromTrap): those of
  // the program wait while the simulation runs, and may come between an access and what follows it.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  realSigaction(SIGSEGV, &action, actionOf(SIGSEGV));
  realSigaction(SIGBUS, &action, actionOf(SIGBUS));
}

void trapInstructions(bool (*emulate)(void* context)) { emulateInstruction = emulate; }

bool isTrapInstalled() { return isInstalled; }
bool isInTrap() { return isTrapped; }

bool programAction(int signal, const struct sigaction* action, struct sigaction* before) {
  struct sigaction* kept = actionOf(signal);
  if (!isInstalled || kept == nullptr) return false;
  const struct sigaction old = *kept;
  if (action != nullptr) *kept = *action;
  if (before != nullptr) *before = old;
  return true;
}

}  // namespace hca::shim

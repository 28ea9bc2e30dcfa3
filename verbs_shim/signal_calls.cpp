// The C library's functions that install signal handlers or block signals.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "verbs_shim/channel/message.h"
#include "verbs_shim/channel_client.h"
#include "verbs_shim/real_calls.h"
#include "verbs_shim/register_trap.h"
#include "verbs_shim/settings.h"

HCASIM_REAL(sigaction);
HCASIM_REAL(sigprocmask);
HCASIM_REAL(pthread_sigmask);

namespace {

// With the trap's signals blocked a fault would kill the program, and a register access is one.
const sigset_t* keepTrapOpen(int how, const sigset_t* set, sigset_t& changed) {
  if (set == nullptr || how == SIG_UNBLOCK || !hca::shim::isTrapInstalled()) return set;
  changed = *set;
  sigdelset(&changed, SIGSEGV);
  sigdelset(&changed, SIGBUS);
  sigdelset(&changed, SIGRTMIN + hca::channel::kInterruptOffset);
  return &changed;
}

// What the program installed: its handlers wait while the thread that they interrupt is in the simulation.
struct sigaction programHandlers[NSIG];

bool hasHandler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

void onSignal(int number, siginfo_t* info, void* context) {
  if (hca::shim::deferSignal(*info)) return;
  struct sigaction& kept = programHandlers[number];
  const struct sigaction action = kept;
  if ((action.sa_flags & SA_RESETHAND) != 0) {
    struct sigaction standard;
    memset(&standard, 0, sizeof standard);
    sigactionReal(number, &standard, nullptr);
    kept = standard;
  }
  hca::shim::noteHandledSignal((action.sa_flags & SA_RESTART) != 0);
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(number, info, context);
  } else {
    action.sa_handler(number);
  }
}

bool isWrapped(int number) {
  return hca::shim::settings().runFolder != nullptr && number > 0 && number < NSIG &&
         number != SIGRTMIN + hca::channel::kInterruptOffset;
}

int wrappedAction(int number, const struct sigaction* action, struct sigaction* before) {
  const struct sigaction old = programHandlers[number];
  struct sigaction wrapped, replaced;
  if (action != nullptr) {
    wrapped = *action;
    if (hasHandler(*action)) {
      programHandlers[number] = *action;
      wrapped.sa_sigaction = onSignal;
      wrapped.sa_flags = (action->sa_flags | SA_SIGINFO) & ~static_cast<int>(SA_RESETHAND);
    }
  }
  const int result = sigactionReal(number, action == nullptr ? nullptr : &wrapped, &replaced);
  const bool wasWrapped = (replaced.sa_flags & SA_SIGINFO) != 0 && replaced.sa_sigaction == onSignal;
  if (result == 0 && before != nullptr) *before = wasWrapped ? old : replaced;
  return result;
}

}  // namespace

HCASIM_EXPORT int sigaction(int number, const struct sigaction* action, struct sigaction* before) {
  if (hca::shim::programAction(number, action, before)) return 0;
  return isWrapped(number) ? wrappedAction(number, action, before) : sigactionReal(number, action, before);
}

HCASIM_EXPORT sighandler_t signal(int number, sighandler_t handler) {
  struct sigaction action, before;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

HCASIM_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* before) {
  sigset_t changed;
  return sigprocmaskReal(how, keepTrapOpen(how, set, changed), before);
}
HCASIM_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
  sigset_t changed;
  return pthread_sigmaskReal(how, keepTrapOpen(how, set, changed), before);
}

// The C library's functions that install signal handlers or block signals.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "verbs_shim/real_calls.h"
#include "verbs_shim/register_trap.h"

HCASIM_REAL(sigaction);
HCASIM_REAL(signal);
HCASIM_REAL(sigprocmask);
HCASIM_REAL(pthread_sigmask);

namespace {

// With the trap's signals blocked a fault would kill the program, and a register access is one.
const sigset_t* keepTrapOpen(int how, const sigset_t* set, sigset_t& changed) {
  if (set == nullptr || how == SIG_UNBLOCK || !hca::shim::isTrapInstalled()) return set;
  changed = *set;
  sigdelset(&changed, SIGSEGV);
  sigdelset(&changed, SIGBUS);
  return &changed;
}

}  // namespace

HCASIM_EXPORT int sigaction(int number, const struct sigaction* action, struct sigaction* before) {
  if (hca::shim::programAction(number, action, before)) return 0;
  return sigactionReal(number, action, before);
}

HCASIM_EXPORT sighandler_t signal(int number, sighandler_t handler) {
  struct sigaction action, before;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  if (hca::shim::programAction(number, &action, &before)) return before.sa_handler;
  return signalReal(number, handler);
}

HCASIM_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* before) {
  sigset_t changed;
  return sigprocmaskReal(how, keepTrapOpen(how, set, changed), before);
}
HCASIM_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
  sigset_t changed;
  return pthread_sigmaskReal(how, keepTrapOpen(how, set, changed), before);
}

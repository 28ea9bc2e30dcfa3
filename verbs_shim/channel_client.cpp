#include "verbs_shim/channel_client.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs_shim/device_files.h"
#include "verbs_shim/register_pages.h"
#include "verbs_shim/settings.h"
#include "verbs_shim/transport.h"

namespace hca::shim {
namespace {

enum class State : int { kNew, kConnected, kFailed, kForked };

pthread_mutex_t connecting = PTHREAD_MUTEX_INITIALIZER;
State state = State::kNew;
const Transport* transport = nullptr;
pthread_key_t threadEnd;

// Plain thread-local storage: this library is loaded at program start, so it needs no allocation.
__attribute__((tls_model("initial-exec"))) __thread uint32_t attachedThread = 0;  // number + 1
__attribute__((tls_model("initial-exec"))) __thread bool isInside = false;
__attribute__((tls_model("initial-exec"))) __thread unsigned completions = 0;
__attribute__((tls_model("initial-exec"))) __thread unsigned events = 0;
__attribute__((tls_model("initial-exec"))) __thread unsigned interruptCount = 0;

uint16_t take(unsigned& count) {
  constexpr unsigned kMost = UINT16_MAX;
  const unsigned taken = count < kMost ? count : kMost;
  count -= taken;
  return static_cast<uint16_t>(taken);
}

void onThreadEnd(void*) {
  if (attachedThread == 0 || state != State::kConnected) return;
  channel::Request request{};
  request.kind = channel::Kind::kThreadEnds;
  channel::Reply reply{};
  (void)call(request, reply);
  attachedThread = 0;
}

// The simulation of the parent goes on without the child, which may open the device after an exec.
void onForkInChild() {
  state = State::kForked;
  attachedThread = 0;
  forgetFiles();
  forgetPages();
}

int connect() {
  pthread_mutex_lock(&connecting);
  if (state == State::kNew) {
    transport = settings().socket != nullptr ? &sharedTransport : &inprocTransport;
    const int error = settings().runFolder == nullptr ? ENODEV : transport->connect();
    if (error == 0) {
      pthread_key_create(&threadEnd, onThreadEnd);
      pthread_atfork(nullptr, nullptr, onForkInChild);
    }
    __atomic_store_n(&state, error == 0 ? State::kConnected : State::kFailed, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&connecting);
  return state == State::kConnected ? 0 : EBUSY;
}

int attach() {
  if (attachedThread != 0) return 0;
  if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != State::kConnected) {
    if (state == State::kForked) return EIO;
    if (const int error = connect(); error != 0) return error;
  }
  attachedThread = transport->attachThread(static_cast<int>(syscall(SYS_gettid))) + 1;
  pthread_setspecific(threadEnd, &attachedThread);
  return 0;
}

}  // namespace

bool isConnected() { return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == State::kConnected; }

bool isInSimulation() { return isInside; }
void adoptThread() { isInside = true; }

unsigned interrupts() { return interruptCount; }
void noteInterrupt() { ++interruptCount; }

void noteCompletions(unsigned count) { completions += count; }
void noteEvent() { ++events; }

int callBlocked(channel::Request& request, channel::Reply& reply) {
  if (isInside) return EDEADLK;  // the simulation itself, or a handler that interrupted it
  isInside = true;
  const int error = attach();
  if (error != 0) {
    reply.error = error;
  } else {
    request.completions = take(completions);
    request.events = take(events);
    transport->call(attachedThread - 1, request, reply);
  }
  isInside = false;
  return reply.error;
}

int call(channel::Request& request, channel::Reply& reply) {
  sigset_t all, before;
  sigfillset(&all);
  // A faulting copy of the simulation is answered by the SIGSEGV handler.
  sigdelset(&all, SIGSEGV);
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = callBlocked(request, reply);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

}  // namespace hca::shim

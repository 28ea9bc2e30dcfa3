#include "verbs_shim/channel_client.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs_shim/channel/shared_memory.h"
#include "verbs_shim/device_files.h"
#include "verbs_shim/fatal_event.h"
#include "verbs_shim/register_pages.h"
#include "verbs_shim/settings.h"
#include "verbs_shim/thread_waits.h"
#include "verbs_shim/transport.h"
#include "verbs_shim/virtual_timers.h"

namespace hca::shim {
namespace {

// kForked: a child of a fork that has files of its parent's, but can't reach its simulation.
enum class State : int { kNew, kConnected, kFailed, kForked };

pthread_mutex_t connecting = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER;
bool hasPlaceForChild = false;
State state = State::kNew;
const Transport* transport = nullptr;
pthread_key_t threadEnd;
bool wantsEvents = false;  // the simulation does

// Plain thread-local storage: this library is loaded at program start, so it needs no allocation.
__attribute__((tls_model("initial-exec"))) __thread uint32_t attachedThread = 0;  // number + 1
__attribute__((tls_model("initial-exec"))) __thread bool isInside = false;
__attribute__((tls_model("initial-exec"))) __thread unsigned completions = 0;
__attribute__((tls_model("initial-exec"))) __thread unsigned events = 0;
__attribute__((tls_model("initial-exec"))) __thread unsigned interruptCount = 0;

// The thread's clock since the last answer: what it showed then (0: not known), by how much it moved since, how far it
// may, and how many times it was read with nothing else in between.
struct LocalClock {
  uint64_t answered;
  uint64_t spent;
  uint64_t quiet;
  uint32_t reads;
};
__attribute__((tls_model("initial-exec"))) __thread LocalClock localClock{};

constexpr unsigned kMostDeferred = 4;
__attribute__((tls_model("initial-exec"))) __thread siginfo_t deferred[kMostDeferred];
__attribute__((tls_model("initial-exec"))) __thread unsigned deferredCount = 0;
__attribute__((tls_model("initial-exec"))) __thread unsigned handledCount = 0;
__attribute__((tls_model("initial-exec"))) __thread bool handlerRestarts = false;

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

// With all signals blocked: threads that the simulation makes are none for the program's signals.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    // A faulting copy of the simulation is answered by the SIGSEGV handler.
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

void beforeFork() {
  pthread_mutex_lock(&forking);
  hasPlaceForChild = false;
  if (state != State::kConnected || isInside || !hasDevices()) return;
  const BlockedSignals blocked;
  const Undisturbed undisturbed;
  hasPlaceForChild = transport->prepareFork();
}

void afterForkInParent() {
  if (hasPlaceForChild) transport->forkedInParent();
  pthread_mutex_unlock(&forking);
}

// What is a thread's, or waits, is the parent's.
void forgetThreads() {
  pthread_mutex_init(&connecting, nullptr);
  pthread_mutex_init(&forking, nullptr);
  attachedThread = 0;
  completions = events = deferredCount = 0;
  localClock = {};
  wantsEvents = false;
  unlockPages();
  forgetFatal();
  forgetWaits();
  forgetSignalTimers();
}

// As in the kernel, a child uses what its parent opened, and has its own addresses, descriptors and threads.
void afterForkInChild() {
  forgetThreads();
  transport->forkedInChild();
  if (hasPlaceForChild) return;
  const bool isFree = transport == &sharedTransport && !hasDevices();
  state = isFree ? State::kNew : State::kForked;
  forgetFiles(!isFree);
  if (isFree) forgetPages();
}

void complainOfFork() {
  static bool hasComplained = false;
  if (__atomic_exchange_n(&hasComplained, true, __ATOMIC_RELAXED)) return;
  if (transport == &sharedTransport) {
    complain("the simulation is not there for a forked child, which uses the device that its parent opened");
  } else {
    complain(
        "a forked child uses the device, and the simulation runs inside its parent; for programs whose children use "
        "it: "
        "hcasim cosim --shared");
  }
}

// Before what the simulation's library has is destroyed.
void endWithProcess() {
  if (state != State::kConnected || isInside) return;
  isInside = true;
  transport->end();
  isInside = false;
}

// Once; a child of a fork has it from its parent.
void prepareForEnds() {
  static bool isDone = false;
  if (isDone) return;
  isDone = true;
  pthread_key_create(&threadEnd, onThreadEnd);
  pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
  atexit(endWithProcess);
}

int connect() {
  const BlockedSignals blocked;
  pthread_mutex_lock(&connecting);
  if (state == State::kNew) {
    transport = settings().socket != nullptr ? &sharedTransport : &inprocTransport;
    const int error = settings().runFolder == nullptr ? ENODEV : transport->connect();
    if (error == 0) prepareForEnds();
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

bool attachThread() {
  if (isInside) return false;
  isInside = true;
  const int error = attach();
  isInside = false;
  const bool isFull = transport == &sharedTransport && attachedThread > channel::SharedArea::kSlots;
  return error == 0 && !isFull;
}

bool isConnected() { return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == State::kConnected; }

bool isInSimulation() { return isInside; }
void adoptThread() { isInside = true; }

unsigned interrupts() { return interruptCount; }
void noteInterrupt() { ++interruptCount; }

bool hasDeferredSignal() { return deferredCount != 0; }
unsigned handledSignals() { return handledCount; }
void noteHandledSignal(bool restarts) {
  ++handledCount;
  handlerRestarts = restarts;
}
bool wasRestarted() { return handlerRestarts; }

void noteCompletions(unsigned count) { completions += count; }
void noteEvent() { ++events; }

void tellOfEvent(uint64_t handle) {
  if (!__atomic_load_n(&wantsEvents, __ATOMIC_RELAXED)) return;
  channel::Request request;
  channel::clear(request, channel::Kind::kEventTaken);
  request.argument[0] = handle;
  channel::Reply reply{};
  (void)call(request, reply);
}

bool deferSignal(const siginfo_t& info) {
  if (!isInside) return false;
  // Handlers interrupt each other, but each runs to its end before the one below goes on.
  const unsigned place = __atomic_fetch_add(&deferredCount, 1, __ATOMIC_RELAXED);
  if (place < kMostDeferred) deferred[place] = info;
  return true;
}

namespace {
void raiseDeferred() {
  siginfo_t raised[kMostDeferred];
  const unsigned count = deferredCount < kMostDeferred ? deferredCount : kMostDeferred;
  memcpy(raised, deferred, count * sizeof raised[0]);
  deferredCount = 0;
  for (unsigned i = 0; i < count; ++i) {
    syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), raised[i].si_signo, &raised[i]);
  }
}
}  // namespace

Undisturbed::Undisturbed() : wasInside_(isInside) { isInside = true; }
Undisturbed::~Undisturbed() {
  isInside = wasInside_;
  if (!isInside && __builtin_expect(deferredCount != 0, 0)) raiseDeferred();
}

bool readClockLocally(uint64_t& picoseconds) {
  LocalClock& clock = localClock;
  // What ran out is told when the simulation is asked; and it knows what the thread's work since then took.
  if (clock.answered == 0 || completions != 0 || events != 0 || isInside || hasTimers()) return false;
  const uint64_t cost = channel::clockCost(clock.reads + 1);
  const uint64_t present = clock.answered + clock.spent + cost;
  if (present >= clock.quiet) return false;
  ++clock.reads;
  clock.spent += cost;
  picoseconds = present;
  return true;
}

int call(channel::Request& request, channel::Reply& reply) {
  // The simulation itself, or a handler that interrupted it.
  if (isInside) return reply.error = EDEADLK;
  isInside = true;
  const int error = attach();
  if (error != 0) {
    if (state == State::kForked) complainOfFork();
    reply.error = error;
  } else {
    request.completions = take(completions);
    request.events = take(events);
    const bool isRead = request.kind == channel::Kind::kReadClock;
    const uint32_t reads = isRead ? localClock.reads + 1 : 0;
    request.spent = localClock.spent + (isRead ? channel::clockCost(reads) : 0);
    reply.flags = 0;
    reply.quiet = reply.clock = 0;
    transport->call(attachedThread - 1, request, reply);
    __atomic_store_n(&wantsEvents, (reply.flags & channel::kTellEventsTaken) != 0, __ATOMIC_RELAXED);
    localClock = {reply.clock, 0, reply.quiet, reads};
  }
  isInside = false;
  if (reply.clock != 0) expireSignals(reply.clock);
  if (__builtin_expect(deferredCount != 0, 0)) raiseDeferred();
  return reply.error;
}

}  // namespace hca::shim

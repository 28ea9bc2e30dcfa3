// The program's side of the channel to the simulation.
#pragma once

#include <signal.h>

#include "verbs_shim/channel/message.h"

namespace hca::shim {

/// Connects at the first call. Returns the answer's `error`; EIO where there is no simulation (any more). The program's
/// signal handlers wait meanwhile.
int call(channel::Request& request, channel::Reply& reply);

/// Reads this thread's clock, picoseconds, and lets it move on by what that costs. False if the simulation has to be
/// asked.
bool readClockLocally(uint64_t& picoseconds);

/// For a signal that came while its thread was in the simulation: raised again when the thread leaves it. False in any
/// other thread. A thread notes four signals.
bool deferSignal(const siginfo_t& info);
/// Whether one waits.
[[nodiscard]] bool hasDeferredSignal();

/// While one exists the program's signal handlers wait, and this thread's calls fail: for code that holds a lock of
/// this library.
class Undisturbed {
 public:
  Undisturbed();
  ~Undisturbed();
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  bool wasInside_;
};

/// How many handlers of the program ran in this thread; a wait that saw the number change ends with EINTR.
[[nodiscard]] unsigned handledSignals();
void noteHandledSignal(bool restarts);
/// Whether the last one had SA_RESTART.
[[nodiscard]] bool wasRestarted();

/// Work of this thread that goes along with its next message.
void noteCompletions(unsigned count);
void noteEvent();
/// A completion event with this handle is about to be returned to the program: tells so if anybody wants to know.
void tellOfEvent(uint64_t handle);

/// How often this thread was interrupted by the simulation: system calls that failed with EINTR meanwhile are to be
/// tried again, because the program has no part in it.
[[nodiscard]] unsigned interrupts();
void noteInterrupt();

/// Whether this thread is in the simulation's own code.
[[nodiscard]] bool isInSimulation();
/// This thread is, for good.
void adoptThread();

/// Makes this thread known to the simulation before it calls for the first time. False if there is no room for more.
bool attachThread();
/// Whether this process has a connection now.
[[nodiscard]] bool isConnected();

}  // namespace hca::shim

// Threads of one program among themselves: which goes on when, and how they wait for each other.
#include <algorithm>
#include <utility>

#include "sim/cosim/cosim_server.h"

namespace hca::cosim {
namespace {

using channel::Kind;

}  // namespace

// Of one program one thread at a time goes on, by their clocks: what threads tell each other through memory, in
// whichever way, then doesn't depend on how fast each of them is. One that runs for long, or sleeps elsewhere, keeps
// nobody.
bool CosimServer::isKept(Thread thread) const {
  const std::vector<Thread>& all = sessionThreads_[threads_[thread].session];
  if (all.size() == 1 || !isLockstep()) return false;
  return std::any_of(all.begin(), all.end(), [&](Thread other) {
    if (other == thread) return false;
    if (lockstep_.state(other) == Lockstep::State::kRunning) return true;
    const bool isReady =
        lockstep_.state(other) == Lockstep::State::kUntil && threads_[other].state == CallState::kUntil;
    return isReady && std::make_pair(lockstep_.clock(other), other) < std::make_pair(lockstep_.clock(thread), thread);
  });
}

void CosimServer::joinThread(Thread thread) {
  const SessionId session = threads_[thread].session;
  const int number = static_cast<int>(threads_[thread].request.argument[0]);
  const std::vector<Thread>& all = sessionThreads_[session];
  const bool runs = std::any_of(all.begin(), all.end(),
                                [&](Thread each) { return each != thread && threads_[each].probe.number() == number; });
  const auto end = ends_.find({session, number});
  // Its own first message may come a moment later than this one.
  const bool isNew = !runs && end == ends_.end() && ThreadProbe(sessionOf(thread).processId(), number).exists();
  if (runs || isNew) return answerLater(thread, CallState::kThread);
  if (end != ends_.end()) {
    lockstep_.arrive(thread, end->second);
    ends_.erase(end);
  }
  answer(thread, 0);
}

// Who waits for its end goes on at that time.
void CosimServer::noteEnd(Thread thread) {
  const SessionId session = threads_[thread].session;
  const int number = threads_[thread].probe.number();
  for (const Thread each : sessionThreads_[session]) {
    const ThreadState& state = threads_[each];
    if (state.state != CallState::kThread || static_cast<int>(state.request.argument[0]) != number) continue;
    lockstep_.arrive(each, lockstep_.clock(thread));
    return answer(each, 0);
  }
  constexpr std::size_t kMost = 10000;  // threads that nobody waits for
  if (ends_.size() < kMost) ends_[{session, number}] = lockstep_.clock(thread);
}

void CosimServer::park(Thread thread) {
  ThreadState& state = threads_[thread];
  if (std::exchange(state.hasPermit, false)) return answer(thread, 0);
  answerLater(thread, CallState::kParked);
  limitWait(thread, state.request.argument[1]);
}

// The other one goes on at this one's clock; this one right behind it, so that a thread which gives something away and
// takes it again doesn't keep it for ever.
void CosimServer::unpark(Thread by, int number) {
  constexpr Time kBehind = nanoseconds(1);
  for (const Thread each : sessionThreads_[threads_[by].session]) {
    if (each == by || threads_[each].probe.number() != number) continue;
    threads_[each].hasPermit = threads_[each].state != CallState::kParked;
    if (threads_[each].hasPermit) continue;
    lockstep_.arrive(each, lockstep_.clock(by));
    answer(each, 0);
  }
  lockstep_.charge(by, kBehind);
}

void CosimServer::eventTaken(Thread thread, std::uint64_t handle) {
  Session& session = sessionOf(thread);
  for (const QueueView& queue : session.queues()) {
    if (queue.cq->userHandle != handle) continue;
    hazards_.eventTaken(session.host().index(), queue.adapter, queue.cq->number, queue.taken);
  }
}

void CosimServer::interruptByNumber(Thread by, int number) {
  for (const Thread each : sessionThreads_[threads_[by].session]) {
    if (each != by && threads_[each].probe.number() == number) interrupt(each);
  }
}

// True if the call was one of these, and is dealt with.
bool CosimServer::isAboutThreads(Thread thread) {
  ThreadState& state = threads_[thread];
  const std::uint64_t argument = state.request.argument[0];
  switch (state.request.kind) {
    case Kind::kPark:
      park(thread);
      return true;
    case Kind::kUnpark:
      unpark(thread, static_cast<int>(argument));
      break;
    case Kind::kEventTaken:
      eventTaken(thread, argument);
      break;
    case Kind::kInterruptThread:
      interruptByNumber(thread, static_cast<int>(argument));
      break;
    case Kind::kJoinThread:
      joinThread(thread);
      return true;
    case Kind::kThreadEnds:
      noteEnd(thread);
      state.state = CallState::kAnswered;
      lockstep_.remove(thread);
      return true;
    default:
      return false;
  }
  answer(thread, 0);
  return true;
}

void CosimServer::interrupt(Thread thread) {
  const CallState state = threads_[thread].state;
  if (state == CallState::kThread || state == CallState::kParked) return answer(thread, channel::kNothingPending);
  giveUp(thread);
}

// Whether it may be in the rest of a join: the other thread has told its end, and the kernel is about to end it.
bool CosimServer::mayBeJoining(Thread thread) {
  constexpr WallTime kMost = std::chrono::milliseconds(50);
  ThreadState& state = threads_[thread];
  if (state.request.kind != Kind::kJoinThread) return false;
  const WallTime now = std::chrono::steady_clock::now().time_since_epoch();
  if (state.ownSince == WallTime{}) state.ownSince = now;
  return now - state.ownSince < kMost;
}

}  // namespace hca::cosim

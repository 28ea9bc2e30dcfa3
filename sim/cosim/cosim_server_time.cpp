// How far time may go, and what is done about threads that hold it up for ever.
#include "sim/cosim/cosim_server.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <utility>

namespace hca::cosim {
namespace {

using channel::Kind;
using channel::Reply;
using channel::Request;

// How far simulated time may be ahead of wall time while a thread is away: completions on their way arrive, but timers
// that end a connection don't run out.
constexpr Time kAhead = microseconds(200);
// The simulation looks for new messages at least this often.
constexpr Time kSlice = microseconds(500);

// How many threads a process has; 0 if it is gone.
std::size_t threadsOf(int process) {
  std::error_code error;
  const std::filesystem::directory_iterator tasks("/proc/" + std::to_string(process) + "/task", error);
  return error ? 0 : static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

}  // namespace

// With its answer, which is complete. It sees memory as it is now. But an interrupted thread may have looked before:
// its next wait is not to miss what changed meanwhile.
void CosimServer::goOn(Thread thread) {
  ThreadState& state = threads_[thread];
  state.state = CallState::kAnswered;
  state.changedSinceInterrupt = false;
  if (state.request.kind != Kind::kSpinning) state.memoryChanged = state.eventDelivered = false;
}

// Calls whose time has come.
bool CosimServer::settle() {
  bool any = false;
  for (Thread thread = 0; thread < threads_.size(); ++thread) {
    ThreadState& state = threads_[thread];
    if (state.state != CallState::kUntil) continue;
    const bool waits = lockstep_.state(thread) == Lockstep::State::kUntil;
    if (waits && (lockstep_.clock(thread) > reached_ || isKept(thread))) continue;
    if (state.request.kind == Kind::kReadClock) {
      state.reply.value[0] = static_cast<std::uint64_t>(lockstep_.clock(thread).count());
    }
    state.reply.clock = waits ? static_cast<std::uint64_t>(lockstep_.clock(thread).count()) : 0;
    goOn(thread);
    if (waits) lockstep_.run(thread, reached_);
    any = true;
  }
  return any;
}

// Who runs holds nothing up but in lockstep; but time doesn't jump over what a waiting thread does next.
Time CosimServer::threadsHorizon() const {
  return isLockstep() ? lockstep_.horizon() : lockstep_.horizon(Lockstep::State::kUntil);
}

Time CosimServer::paceLimit() {
  if (sync_.kind == sim::Sync::Kind::kFree) return kForever;
  // Who spins runs, although it was made to wait.
  const bool spins = std::any_of(threads_.begin(), threads_.end(), [](const ThreadState& each) {
    return each.state == CallState::kMemory && each.request.kind == Kind::kSpinning;
  });
  if (isLockstep() && !spins && !lockstep_.any(Lockstep::State::kAway)) {
    hasPace_ = false;
    return kForever;
  }
  const WallTime now = std::chrono::steady_clock::now().time_since_epoch();
  if (!std::exchange(hasPace_, true)) {
    paceFrom_ = reached_;
    paceSince_ = now;
  }
  constexpr std::int64_t kPicosecondsPerNanosecond = 1000;
  const auto passed = static_cast<double>((now - paceSince_).count() * kPicosecondsPerNanosecond);
  if (!isLockstep()) return paceFrom_ + Time(static_cast<std::int64_t>(passed * sync_.scale));
  return paceFrom_ + kAhead + Time(static_cast<std::int64_t>(passed));
}

// True if it was stopped.
bool CosimServer::runTo(Time limit) {
  for (std::size_t id = 0; id < sessions_.size(); ++id) {
    if (sessions_[id] == nullptr || !sessions_[id]->hasBegun()) continue;
    const std::vector<Thread>& threads = sessionThreads_[id];
    const bool isQuiet = std::all_of(threads.begin(), threads.end(), [this](Thread thread) {
      return lockstep_.state(thread) == Lockstep::State::kUntil || lockstep_.state(thread) == Lockstep::State::kWaiting;
    });
    sessions_[id]->memory().beginSlice(isQuiet);
  }
  const bool stopped = system_.run(limit);
  for (const auto& session : sessions_) {
    if (session != nullptr && session->hasBegun()) session->memory().endSlice();
  }
  return stopped;
}

bool CosimServer::progress() {
  if (settle()) return true;
  // What the configuration lets happen at a time waits for the first program, and for the next one.
  const bool isDeserted =
      std::all_of(sessions_.begin(), sessions_.end(), [](const auto& session) { return session == nullptr; });
  if (isDeserted && isLockstep() && !drills_.isAsked()) return false;
  const Time threads = threadsHorizon();
  const Time horizon = earlier(threads, paceLimit());
  const Time next = earlier(nextEvent(), pending_.empty() ? kForever : pending_.begin()->when);
  if (next > horizon || next == kForever) {
    // Time passes without an event, up to where a thread is.
    if (horizon != kForever && (threads != kForever || !isLockstep())) reached_ = later(reached_, horizon);
    return settle();
  }
  // Not for long: new messages are to be seen.
  const Time limit = earlier(horizon, later(next, reached_) + kSlice);
  releaseActions(limit);
  if (nextEvent() > limit) return false;  // another thread may act at the same time
  const bool stopped = runTo(limit);
  constexpr Time kInstant = picoseconds(1);
  const bool hasArrived = !stopped && limit == threads;
  reached_ = later(reached_, hasArrived ? limit : system_.calendar().now() - kInstant);
  settle();
  return true;
}

CosimServer::WallTime CosimServer::considerForce(const std::function<bool(Thread)>& hasTaken) {
  WallTime next = kLongestLook;
  for (Thread thread = 0; thread < threads_.size(); ++thread) {
    const bool isOnItsOwn =
        lockstep_.state(thread) == Lockstep::State::kRunning && threads_[thread].state == CallState::kNone;
    if (isOnItsOwn && hasTaken(thread)) next = std::min(next, considerThread(thread, hasTaken));
    considerReturn(thread);
  }
  return std::max(next, kShortestLook);
}

// A thread that slept elsewhere runs again: time is not to go on without it. It may find much to do before it calls.
void CosimServer::considerReturn(Thread thread) {
  ThreadState& state = threads_[thread];
  if (lockstep_.state(thread) != Lockstep::State::kAway || state.state != CallState::kNone || state.spins) return;
  const WallTime spent = state.probe.processorTime();
  if (std::exchange(state.lastLook, spent) == spent || state.probe.isAsleep()) return;
  state.processorTime = spent;
  lockstep_.run(thread, reached_);
}

// Others see a thread's processor time to the kernel's tick alone. One that is to be interrupted sooner says itself how
// much it spent.
bool CosimServer::watchesItself(Thread thread) {
  constexpr WallTime kTick = std::chrono::milliseconds(4);
  return threads_[thread].grace < kTick && sessionOf(thread).processId() != ownProcess_;
}

CosimServer::WallTime CosimServer::considerWatched(Thread thread, const HasTaken& hasTaken) {
  ThreadState& state = threads_[thread];
  const WallTime now = std::chrono::steady_clock::now().time_since_epoch();
  if (state.ownSince == WallTime{}) state.ownSince = now;
  // It may have been about to come out of its last call: then it didn't listen.
  const WallTime patience = state.isInterrupted ? kLongestLook : state.grace;
  if (now - state.ownSince < patience) return patience;
  const bool sleeps = state.probe.isAsleep();
  if (sleeps || state.isInterrupted) {
    const WallTime next = considerProcessor(thread, hasTaken);
    if (sleeps || lockstep_.state(thread) == Lockstep::State::kAway) return next;
  }
  state.isInterrupted = true;
  state.ownSince = now;
  state.probe.interrupt(SIGRTMIN + channel::kInterruptOffset);
  return kLongestLook;
}

CosimServer::WallTime CosimServer::considerThread(Thread thread, const HasTaken& hasTaken) {
  if (mayBeJoining(thread)) return kLongestLook;
  return watchesItself(thread) ? considerWatched(thread, hasTaken) : considerProcessor(thread, hasTaken);
}

CosimServer::WallTime CosimServer::considerProcessor(Thread thread, const HasTaken& hasTaken) {
  ThreadState& state = threads_[thread];
  const WallTime spent = state.probe.processorTime();
  if (!std::exchange(state.hasProcessorTime, true)) state.processorTime = spent;
  // One that was interrupted answers when it gets its processor.
  const WallTime grace = std::max(state.grace, watchesItself(thread) ? kFirstGrace : WallTime{});
  const bool spins = spent - state.processorTime >= grace;
  // Whoever used its processor since the last look doesn't sleep.
  const bool wasBusy = std::exchange(state.lastLook, spent) != spent;
  // One that sleeps now is looked at again soon: its sleeps may be short.
  if (!spins && wasBusy) return state.probe.isAsleep() ? kShortestLook * 4 : grace - (spent - state.processorTime);
  // Who sleeps is not interrupted, however much it computed before.
  const bool sleeps = state.probe.isAsleep();
  if (!spins && !sleeps) return kShortestLook * 4;
  // It may have begun a call since it was looked at first, and sleep for that.
  if (!hasTaken(thread)) return kShortestLook;
  state.processorTime = spent;
  const bool isElsewhere = sessionOf(thread).processId() != ownProcess_;
  if (!sleeps && isElsewhere && !std::exchange(state.isInterrupted, true)) {
    state.probe.interrupt(SIGRTMIN + channel::kInterruptOffset);
    return kLongestLook;
  }
  state.spins = !sleeps;
  lockstep_.leave(thread);
  if (!sleeps) ++forcedAdvances_;
  return kShortestLook;
}

bool CosimServer::hasSpinners() const {
  return std::any_of(threads_.begin(), threads_.end(),
                     [](const ThreadState& each) { return each.grace < std::chrono::microseconds(100); });
}

std::string CosimServer::describe(Thread thread) {
  const ThreadState& state = threads_[thread];
  const Session& session = sessionOf(thread);
  std::string text = "host " + std::to_string(sessionOf(thread).host().index().value()) + ", process " +
                     std::to_string(session.processId()) + ": ";
  switch (state.request.kind) {
    case Kind::kPollEmpty:
      text += "polls a completion queue that is empty";
      break;
    case Kind::kWaitForEvent:
      text += "waits for an event at descriptor " + std::to_string(state.request.argument[2] & 0xFFFFFFFF);
      break;
    case Kind::kPark:
      text += "waits for another thread";
      break;
    case Kind::kJoinThread:
      text += "waits for the end of another thread";
      break;
    case Kind::kSpinning:
      text += "computes, or looks at its memory in a loop";
      break;
    default:
      text += "does something else";
  }
  constexpr double kPerMicrosecond = 1e6;
  const auto toMicroseconds = [](Time time) {
    return std::to_string(static_cast<double>(time.count()) / kPerMicrosecond) + " us";
  };
  text += ", since " + toMicroseconds(lockstep_.clock(thread));
  if (state.lastDeed != nullptr)
    text += std::string("; before that it ") + state.lastDeed + " at " + toMicroseconds(state.lastDeedAt);
  return text;
}

bool CosimServer::waitsForEventsAlone(Thread thread) const {
  const ThreadState& state = threads_[thread];
  if (state.state == CallState::kThread || state.state == CallState::kParked) return true;
  return state.state == CallState::kEvent && (state.request.argument[2] & channel::kNothingButEvents) != 0;
}

// Programs can be stuck without it, by waiting for each other.
void CosimServer::noteLostWakeUps(Session& session, Time since) {
  for (const QueueView& queue : session.queues()) {
    if (queue.waiting == 0) continue;
    report::FailureResult failure;
    failure.kind = "lost_wakeup";
    failure.host = session.host().index();
    failure.adapter = queue.adapter;
    failure.cq = queue.cq->number;
    failure.entries = queue.waiting;
    failure.since = since;
    failure.message =
        "a thread sleeps although completions wait in the queue, and no event is on its way: poll once "
        "more after arming, before going to sleep";
    failures_.push_back(failure);
    hazards_.add({observe::HazardEvent::Kind::kLostWakeUp, since, failure.host, queue.adapter, queue.cq->number,
                  queue.taken, queue.waiting});
  }
}

void CosimServer::noteStuck(Thread thread) {
  Session& session = sessionOf(thread);
  const Time since = lockstep_.clock(thread);
  const std::size_t before = failures_.size();
  if (threads_[thread].state == CallState::kEvent) noteLostWakeUps(session, since);
  if (failures_.size() != before) return;
  report::FailureResult failure;
  failure.kind = "stuck";
  failure.host = session.host().index();
  failure.since = since;
  failure.message = describe(thread);
  failures_.push_back(failure);
}

std::string CosimServer::whyStuck() {
  if (!system_.calendar().empty() || !pending_.empty()) return {};
  std::string text;
  for (std::size_t id = 0; id < sessions_.size(); ++id) {
    if (sessions_[id] == nullptr) continue;
    // Threads that never called do something of which nobody knows.
    const std::size_t own = sessions_[id]->processId() == ownProcess_ ? 1 : 0;
    if (sessionThreads_[id].empty() || sessionThreads_[id].size() + own != threadsOf(sessions_[id]->processId()))
      return {};
    for (const Thread thread : sessionThreads_[id]) {
      const ThreadState& state = threads_[thread];
      const bool hasNews = state.state == CallState::kEvent && (state.request.argument[0] != 0 || state.eventDelivered);
      if (!waitsForEventsAlone(thread) || state.deadline != kForever || hasNews) return {};
      text += "hcasim:   " + describe(thread) + '\n';
    }
    text += sessions_[id]->describeQueues();
  }
  if (!text.empty() && failures_.empty()) {
    for (Thread thread = 0; thread < threads_.size(); ++thread) {
      if (lockstep_.state(thread) != Lockstep::State::kGone) noteStuck(thread);
    }
  }
  return text;
}

void CosimServer::giveUp(Thread thread) {
  const CallState state = threads_[thread].state;
  if (state != CallState::kMemory && state != CallState::kEvent) return;
  // It computes, and waits for nothing of ours: it is to be disturbed less and less.
  WallTime& grace = threads_[thread].grace;
  if (threads_[thread].request.kind == Kind::kSpinning) grace = std::min(grace * 2, kMostGrace);
  answer(thread, channel::kNothingPending);
  if (state != CallState::kEvent) return;
  // It waits at the file itself now.
  lockstep_.leave(thread);
}

}  // namespace hca::cosim

// The simulation as programs reach it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "models/kernel/inbox.h"
#include "sim/config/config.h"
#include "sim/cosim/cosim_options.h"
#include "sim/cosim/cosim_result.h"
#include "sim/cosim/hazard_watch.h"
#include "sim/cosim/lockstep.h"
#include "sim/cosim/session.h"
#include "sim/cosim/thread_probe.h"
#include "sim/cosim/verbs_log.h"
#include "sim/drills/drill_bench.h"
#include "sim/observers/file_observers.h"
#include "sim/system/system.h"
#include "verbs_shim/channel/message.h"

namespace hca::cosim {

/// Takes the messages of program threads and runs the simulation between them, in lockstep. One thread at a time may be
/// inside; transports see to that.
class CosimServer final : private SessionListener {
 public:
  using WallTime = std::chrono::nanoseconds;

  explicit CosimServer(const config::Config& config, const CosimOptions& options = {});
  ~CosimServer();

  /// Empty, or what went wrong.
  [[nodiscard]] std::string bringUp();

  using SessionId = std::uint32_t;
  using Thread = Lockstep::Thread;
  /// Of another process threads that spin are interrupted by a signal, so that they leave their processor to others.
  SessionId attachProcess(HostIndex host, int processId, std::unique_ptr<ProgramMemory> memory);
  /// A child of `parent`'s process that is about to be forked: it has what its parent has open now. It takes part when
  /// `beginProcess` tells that it is there.
  SessionId attachChild(SessionId parent);
  void beginProcess(SessionId session, int processId, std::unique_ptr<ProgramMemory> memory);
  /// The process is gone: frees what it had, while time goes on.
  void detachProcess(SessionId session);
  Thread attachThread(SessionId session, int threadId);

  /// Begins a call of `thread`, which has none under way.
  void submit(Thread thread, const channel::Request& request);
  /// False while the call is under way.
  bool takeReply(Thread thread, channel::Reply& reply);
  /// Whether any thread has an answer that it didn't take yet.
  [[nodiscard]] bool hasReplies() const {
    return std::any_of(threads_.begin(), threads_.end(),
                       [](const ThreadState& each) { return each.state == CallState::kAnswered; });
  }
  [[nodiscard]] bool hasReply(Thread thread) const { return threads_[thread].state == CallState::kAnswered; }

  /// Runs the simulation as far as it may go, but not long. True if something happened: a call was answered, or more
  /// can be run.
  bool progress();
  /// Nobody called for a while: looks at threads that run, and lets the simulation go on without those that sleep
  /// elsewhere or spent their grace. Returns when to look again if nobody calls. `hasTaken`: whether a thread knows its
  /// last answer and calls for nothing.
  WallTime considerForce(const std::function<bool(Thread)>& hasTaken);
  /// Answers a wait that can't be satisfied by the simulation alone.
  void giveUp(Thread thread);
  /// A signal came for it: its wait, of whatever kind, ends.
  void interrupt(Thread thread);
  /// Whether a thread waits for events or other threads and nothing else, so that there is no need to give up.
  [[nodiscard]] bool waitsForEventsAlone(Thread thread) const;
  /// Who waits for what, if every thread waits for an event or for another thread, none of them for a limited time, and
  /// nothing will happen any more: then they wait for ever, and the result says so. Empty otherwise.
  [[nodiscard]] std::string whyStuck();

  /// Whether anything is pending in the simulation.
  [[nodiscard]] bool isBusy() { return !system_.calendar().empty() || !pending_.empty(); }
  /// Whether a thread turned out to look at its memory in a loop, without calling.
  [[nodiscard]] bool hasSpinners() const;
  /// Whether a thread goes on with its own work, and may call.
  [[nodiscard]] bool anyRuns() const { return lockstep_.any(Lockstep::State::kRunning); }
  /// Events so far.
  [[nodiscard]] std::uint64_t executed() { return system_.calendar().executed(); }
  /// Writes the result as of now; it is also written whenever the last device is closed.
  void writeResult();
  /// Notifications that programs relied on and the specification doesn't promise, for people.
  [[nodiscard]] std::string describeHazards() const;
  /// What a thread does, for people.
  [[nodiscard]] std::string describe(Thread thread);
  [[nodiscard]] std::uint64_t forcedAdvances() const { return forcedAdvances_; }
  [[nodiscard]] Time now() { return system_.calendar().now(); }
  /// Drills of the configuration, and further ones.
  [[nodiscard]] sim::DrillBench& drills() { return drills_; }
  /// When something may happen that nobody knew of before.
  [[nodiscard]] Time soon() { return later(reached_ + picoseconds(1), system_.calendar().now()); }

 private:
  SessionId addSession(HostIndex host);
  void listenToPorts();
  void onPortChanged(std::uint32_t host, std::uint32_t adapter, std::uint8_t number);
  // Processor time that a thread may spend between two calls before the simulation goes on without it. Less for one
  // that turned out to look at its memory, more for one that was disturbed in vain.
  static constexpr WallTime kFirstGrace = std::chrono::milliseconds(5);
  static constexpr WallTime kLeastGrace = std::chrono::microseconds(5);
  static constexpr WallTime kShortGrace = std::chrono::microseconds(100);
  static constexpr WallTime kMostGrace = std::chrono::milliseconds(100);
  // How often a thread that runs is looked at.
  static constexpr WallTime kShortestLook = std::chrono::microseconds(10);
  static constexpr WallTime kLongestLook = std::chrono::milliseconds(1);

  enum class CallState : std::uint8_t {
    kNone,     // it runs on its own
    kUntil,    // its answer is known, or will be when its clock is reached
    kCommand,  // the simulation works on it
    kMemory,   // until its memory changes
    kEvent,    // until it has an event to read
    kThread,   // until another thread has ended
    kParked,   // until another thread unparks it
    kAnswered  // may go on
  };
  struct ThreadState {
    ThreadState(SessionId in, ThreadProbe how) : session(in), probe(std::move(how)) {}
    SessionId session;
    std::uint32_t core = 0;
    ThreadProbe probe;
    std::uint32_t call = 0;          // so far
    Time deadline = kForever;        // of its wait
    const char* lastDeed = nullptr;  // what it did before it waited, for people
    Time lastDeedAt{};
    CallState state = CallState::kNone;
    channel::Request request{};
    channel::Reply reply{};
    bool memoryChanged = false;          // since its last look of which we know
    bool changedSinceInterrupt = false;  // since it last went on, be it from an interrupt
    bool eventDelivered = false;
    std::uint64_t mostSpent = 0;  // picoseconds by which its next message may say that its clock moved
    bool hasPermit = false;       // was unparked before it parked
    bool spins = false;           // away because it computes, not because it sleeps
    bool isInterrupted = false;   // was asked to sleep while it spins
    WallTime processorTime{};     // when it went on after its last call, or was first looked at since then
    WallTime lastLook{};          // what it was at the last look
    bool hasProcessorTime = false;
    WallTime ownSince{};  // when it was first looked at since its last answer, or interrupted since then
    WallTime grace = kFirstGrace;
  };
  struct Action {
    Thread thread = 0;
    std::uint32_t call = 0;
  };
  // A call that takes effect at a time; calls of the same time do so in the order of their threads. A thread may have
  // several: it doesn't wait for its posted writes.
  struct PendingAction {
    Time when;
    Thread thread;
    std::uint32_t call;  // of the thread: one that is over by then counts no more
    friend bool operator<(const PendingAction& a, const PendingAction& b) {
      return std::tie(a.when, a.thread, a.call) < std::tie(b.when, b.thread, b.call);
    }
  };

  // A store on its way: its thread has gone on, or ended.
  struct PostedWrite {
    Thread thread;
    std::uint32_t call;
    SessionId session;
    channel::Request request;
  };

  void onMemoryChanged(Session& session) override;
  void onEventReadable(Session& session, host::Core* core) override;
  void onEventReported(Session& session, const std::string& text) override;
  void listenToCommands();
  void writeResultWhenIdle();
  [[nodiscard]] VerbsLog::Place placeOf(Thread thread);

  void act(Action& action);
  void command(Thread thread);
  void fillPage(Thread thread);
  void mapPage(Thread thread);
  void post(Thread thread);
  void registerWrite(const PostedWrite& write);
  void arm(Thread thread);
  void registerRead(Thread thread);
  void openOrClose(Thread thread);
  void answerLater(Thread thread, CallState state);
  void answer(Thread thread, int error, std::uint64_t first = 0, std::uint64_t second = 0);
  /// Of a call that takes time: nothing happens if its thread is gone by then, whoever has its number.
  using Answer = std::function<void(int error, std::uint64_t first, std::uint64_t second)>;
  [[nodiscard]] Answer answerOf(Thread thread);
  using HasTaken = std::function<bool(Thread)>;
  [[nodiscard]] WallTime considerThread(Thread thread, const HasTaken& hasTaken);
  [[nodiscard]] WallTime considerWatched(Thread thread, const HasTaken& hasTaken);
  [[nodiscard]] WallTime considerProcessor(Thread thread, const HasTaken& hasTaken);
  [[nodiscard]] bool watchesItself(Thread thread);
  [[nodiscard]] bool mayBeJoining(Thread thread);
  void considerReturn(Thread thread);
  void endThread(Thread thread);
  void forgetThread(Thread thread);
  void joinThread(Thread thread);
  void noteEnd(Thread thread);
  void noteStuck(Thread thread);
  void noteLostWakeUps(Session& session, Time since);
  bool isAboutThreads(Thread thread);
  void eventTaken(Thread thread, std::uint64_t handle);
  void interruptByNumber(Thread by, int number);
  void limitWait(Thread thread, std::uint64_t span);
  void park(Thread thread);
  void unpark(Thread by, int number);
  [[nodiscard]] bool isKept(Thread thread) const;
  [[nodiscard]] std::uint64_t quietUntil(Thread thread);
  [[nodiscard]] Time costOf(Thread thread, const channel::Request& request);
  [[nodiscard]] const host::CpuConfig& cpu(Thread thread);
  [[nodiscard]] Session& sessionOf(Thread thread) { return *sessions_[threads_[thread].session]; }
  [[nodiscard]] bool isArm(const channel::Request& request) const;
  // Fast down to where the thread may need the time to act on what it saw, slowly from there.
  static void shorten(WallTime& grace) {
    grace = grace > kShortGrace ? grace / 8 : std::max(grace - grace / 16, kLeastGrace);
  }
  bool settle();
  void goOn(Thread thread);
  void releaseActions(Time limit);
  bool runTo(Time limit);
  [[nodiscard]] Time nextEvent();
  void resume(Thread thread, Time at);
  [[nodiscard]] Time paceLimit();
  [[nodiscard]] Time threadsHorizon() const;
  [[nodiscard]] bool isLockstep() const { return sync_.kind == sim::Sync::Kind::kLockstep; }

  const config::Config config_;
  const int ownProcess_;
  const sim::Sync sync_;
  std::vector<std::vector<DeviceDescription>> devices_;  // by host and adapter
  std::string folder_;                                   // of the run, or empty
  std::vector<std::uint32_t> threadsOfHost_;             // so far
  sim::System system_;
  sim::DrillBench drills_;
  std::unique_ptr<VerbsLog> log_;        // null if nobody wants it
  std::unique_ptr<CosimResult> result_;  // likewise
  observers::FileObservers files_;
  HazardWatch hazards_;
  std::vector<report::FailureResult> failures_;
  std::vector<HostShares> shares_;  // by host
  kernel::Inbox<CosimServer, Action> actions_;
  std::set<PendingAction> pending_;  // not yet in the calendar: another thread may still act at the same time
  std::vector<PostedWrite> posted_;  // few at a time
  Lockstep lockstep_;
  std::vector<std::unique_ptr<Session>> sessions_;   // by id; empty: gone
  std::vector<std::vector<Thread>> sessionThreads_;  // likewise
  std::vector<ThreadState> threads_;
  std::vector<Thread> freeThreads_;
  std::map<std::pair<SessionId, int>, Time> ends_;  // of threads that ended and were not waited for, by their numbers
  Time reached_{};                                  // everything up to here, this time included, has happened
  std::uint64_t forcedAdvances_ = 0;
  bool hasPace_ = false;
  Time paceFrom_{};
  WallTime paceSince_{};
};

}  // namespace hca::cosim

// libhcasim_inproc.so: the simulation for one program, in its process.
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

#include "sim/config/config_loader.h"
#include "sim/cosim/cosim_server.h"
#include "sim/cosim/same_process_memory.h"
#include "sim/options/exit_code.h"
#include "verbs_shim/channel/environment.h"
#include "verbs_shim/channel/inproc.h"

// libsystemc refers to it; whoever embeds the kernel brings it.
extern "C" int sc_main(int, char*[]) { return 0; }

namespace hca::cosim {
namespace {

using channel::Reply;
using channel::Request;
using namespace std::chrono_literals;

std::chrono::nanoseconds wallNow() { return std::chrono::steady_clock::now().time_since_epoch(); }

CosimOptions optionsOfEnvironment() {
  const auto value = [](const char* variable) {
    const char* text = std::getenv(variable);
    return std::string(text == nullptr ? "" : text);
  };
  observers::ObserverFiles files;
  for (const observers::ObserverFileOption& file : observers::kObserverFileOptions)
    files.*file.path = value(file.variable);
  return {{value(channel::kResultVariable), value(channel::kVerbsLogVariable), files},
          sim::parseSync(value(channel::kSyncVariable)).value_or(sim::Sync{}),
          value(channel::kRunVariable)};
}

/// Program threads run the simulation themselves, one at a time; a thread of its own looks after it while they don't.
class InprocHost {
 public:
  InprocHost(const config::Config& config, const channel::InprocParameters& parameters)
      : server_(config, optionsOfEnvironment()),
        host_(parameters.host),
        copy_(parameters.guardedCopy),
        adoptThread_(parameters.adoptThread),
        isInterrupted_(parameters.isInterrupted) {}

  std::string start() {
    if (std::string problem = server_.bringUp(); !problem.empty()) return problem;
    session_ = server_.attachProcess(HostIndex(host_), getpid(), std::make_unique<SameProcessMemory>(copy_));
    // It never ends: the process may end in many ways, and none of them is to wait for it.
    std::thread([this] { lookAfter(); }).detach();
    return {};
  }

  std::uint32_t attachThread(int threadId) {
    const std::lock_guard<std::mutex> guard(mutex_);
    return server_.attachThread(session_, threadId);
  }

  /// The program ends, with devices open perhaps.
  void end() {
    if (!mutex_.try_lock()) return;  // another thread of it is in the simulation, and ends there
    server_.writeResult();
    tellHazards();
    mutex_.unlock();
  }

  void call(std::uint32_t thread, const Request& request, Reply& reply) {
    entering_.fetch_add(1);
    std::unique_lock<std::mutex> lock(mutex_);
    entering_.fetch_sub(1);
    ++calls_;
    server_.submit(thread, request);
    if (!server_.takeReply(thread, reply)) waitForReply(thread, request, reply, lock);
    if ((isResting_ && server_.isBusy()) || waiting_ != 0) changed_.notify_all();
  }

 private:
  static constexpr auto kTick = 50us;
  static constexpr auto kLongTick = 1ms;
  static constexpr std::chrono::microseconds kIdleTick = 500us;
  static constexpr int kPatience = 20;

  void waitForReply(std::uint32_t thread, const Request& request, Reply& reply, std::unique_lock<std::mutex>& lock) {
    std::chrono::nanoseconds began{};
    int idle = 0;
    while (!server_.takeReply(thread, reply)) {
      if (server_.progress()) {
        letOthersIn(thread, lock);
        continue;
      }
      if (idle++ == 0) began = wallNow();
      if (isVain(thread, request, wallNow() - began, idle)) server_.giveUp(thread);
      if (server_.progress()) continue;
      wait(lock);
    }
  }

  // What was answered holds time up until its thread has taken it, and for that it needs the lock.
  void letOthersIn(std::uint32_t thread, std::unique_lock<std::mutex>& lock) {
    if (waiting_ == 0) return;
    changed_.notify_all();
    if (!server_.hasReply(thread) && server_.hasReplies()) wait(lock);
  }

  bool isVain(std::uint32_t thread, const Request& request, std::chrono::nanoseconds waited, int idle) {
    if (request.kind == channel::Kind::kWaitForEvent) {
      const std::chrono::nanoseconds limit(request.argument[0]);
      if (isInterrupted_() != 0 || (limit.count() != 0 && waited > limit)) return true;
    }
    if (server_.waitsForEventsAlone(thread)) {
      if (isInterrupted_() != 0) server_.interrupt(thread);
      endIfStuck(waited);
      return false;
    }
    return isAlone() || idle > kPatience;
  }

  void tellHazards() const { std::fputs(server_.describeHazards().c_str(), stderr); }

  // Nothing of the simulation's own can wake anybody up. A moment is left for what others do, signals for example.
  void endIfStuck(std::chrono::nanoseconds waited) {
    if (waited < 1s) return;
    const std::string why = server_.whyStuck();
    if (why.empty()) return;
    std::fprintf(stderr, "hcasim: the program waits for ever: nothing is pending that could bring an event:\n%s",
                 why.c_str());
    server_.writeResult();
    tellHazards();
    _exit(options::kCosimStuck);
  }

  // Nothing is pending, and nobody else is there who could change that soon.
  bool isAlone() { return !server_.isBusy() && waiting_ == 0; }

  // A thread that waits for the lock looks as if it slept elsewhere.
  void considerForce() {
    (void)server_.considerForce([this](CosimServer::Thread) { return entering_.load() == 0; });
  }

  void wait(std::unique_lock<std::mutex>& lock) {
    // A thread that is cancelled here would leave the simulation locked.
    int before = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    ++waiting_;
    changed_.wait_for(lock, server_.isBusy() ? std::chrono::microseconds(kTick) : kIdleTick);
    --waiting_;
    pthread_setcancelstate(before, nullptr);
    considerForce();
  }

  void lookAfter() {
    adoptThread_();
    prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds: short sleeps are to be short
    std::unique_lock<std::mutex> lock(mutex_);
    std::uint64_t seen = 0;
    bool isActive = false;
    for (;;) {
      // Before the first call there is no thread that would hold time up.
      if (!server_.isBusy() || calls_ == 0) {
        isResting_ = true;
        changed_.wait(lock);
        isResting_ = false;
        continue;
      }
      // While programs call, there is little to look after.
      changed_.wait_for(lock, isActive && !server_.hasSpinners() ? kLongTick : kTick);
      isActive = std::exchange(seen, calls_) != calls_;
      if (isActive || waiting_ != 0) continue;
      considerForce();
      for (int i = 0; i < kPatience && seen == calls_ && server_.progress(); ++i) {
        lock.unlock();  // a program thread may want in
        lock.lock();
      }
    }
  }

  std::mutex mutex_;
  std::atomic<int> entering_{0};  // threads that are about to call
  std::condition_variable changed_;
  CosimServer server_;
  std::uint32_t host_;
  SameProcessMemory::Copy copy_;
  void (*adoptThread_)();
  int (*isInterrupted_)();
  CosimServer::SessionId session_ = 0;
  std::uint64_t calls_ = 0;
  int waiting_ = 0;
  bool isResting_ = false;  // the thread that looks after it sleeps until there is something
};

std::string start(const channel::InprocParameters& parameters, channel::InprocSimulation& simulation) {
  if (parameters.version != channel::kProtocolVersion) return "the preload library is of another version of hcasim";
  const config::LoadedConfig loaded = config::loadConfig({parameters.config}, {}, config::Work::kElsewhere);
  if (!loaded.problems.empty()) return describe(loaded.problems.front());
  if (parameters.host >= loaded.config.host.count) return "the configuration has no such host";
  auto* host = new InprocHost(loaded.config, parameters);  // NOLINT: lives as long as the process
  if (std::string problem = host->start(); !problem.empty()) return problem;
  simulation.self = host;
  simulation.attachThread = [](void* self, int threadId) {
    return static_cast<InprocHost*>(self)->attachThread(threadId);
  };
  simulation.call = [](void* self, std::uint32_t thread, const Request* request, Reply* reply) {
    static_cast<InprocHost*>(self)->call(thread, *request, *reply);
  };
  simulation.end = [](void* self) { static_cast<InprocHost*>(self)->end(); };
  return {};
}

}  // namespace
}  // namespace hca::cosim

extern "C" __attribute__((visibility("default"))) int hcasim_inproc_start(
    const hca::channel::InprocParameters* parameters, hca::channel::InprocSimulation* simulation, char* problem,
    std::size_t problemSize) {
  std::string what;
  try {
    what = hca::cosim::start(*parameters, *simulation);
  } catch (const std::exception& error) {
    what = error.what();
  }
  std::snprintf(problem, problemSize, "%s", what.c_str());
  return what.empty() ? 0 : -1;
}

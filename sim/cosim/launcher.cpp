#include "sim/cosim/launcher.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/cosim/listening.h"
#include "sim/cosim/output_prefixer.h"
#include "sim/cosim/process_family.h"
#include "sim/cosim/program.h"
#include "sim/cosim/program_environment.h"
#include "sim/cosim/run_folder.h"
#include "sim/cosim/shared_simulation.h"
#include "sim/cosim/termination.h"
#include "sim/options/exit_code.h"
#include "verbs_shim/channel/environment.h"

namespace hca::cosim {
namespace {

using options::CosimRequest;

ProgramStart startOf(const CosimRequest& request, const options::CosimCommand& command, const RunFolder& folder) {
  ProgramStart start;
  start.words = command.words;
  start.environment = programEnvironment(request.config, command.host, folder.path(), request.hasVirtualTime);
  return start;
}

int runInProcess(const CosimRequest& request) {
  const RunFolder folder(request.config);
  ProgramStart start = startOf(request, request.commands.front(), folder);
  // It holds the whole simulation: nobody else would end it.
  start.endsWithLauncher = true;
  start.environment.emplace_back(channel::kInprocVariable, findLibrary("libhcasim_inproc.so"));
  start.environment.emplace_back(channel::kResultVariable, request.resultFile);
  start.environment.emplace_back(channel::kVerbsLogVariable, request.verbsLogFile);
  start.environment.emplace_back(channel::kSyncVariable, sim::toText(request.sync));
  Program program(start);
  while (!program.waitInterruptibly()) program.signal(Termination::signal());
  return *program.poll();
}

// Several programs, which start one after the other while the simulation already serves.
class Programs final : public SharedSimulation::Programs {
 public:
  Programs(const CosimRequest& request, const RunFolder& folder, const std::string& socket)
      : request_(request), folder_(folder), socket_(socket), output_(request.out) {
    for (const options::CosimCommand& command : request.commands) {
      const bool isAlone = request.commands.size() == 1;
      outputs_.push_back(isAlone ? -1 : output_.add("host" + std::to_string(command.host) + ": "));
    }
    output_.start();
  }
  /// What still runs is ended: nobody serves it any more.
  ~Programs() {
    closeOutputs();
    for (const auto& program : running_) program->signal(SIGTERM);
  }
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  bool areAllAmong(const std::set<int>& attached) override {
    return running_.size() == request_.commands.size() &&
           std::all_of(running_.begin(), running_.end(), [&attached](const auto& program) {
             return program->poll() || isFamilyAmong(program->process(), attached);
           });
  }
  /// Starts the next one when its time has come; true when all have ended.
  bool areOver() override {
    if (running_.size() < request_.commands.size() && mayStart()) startNext();
    bool isOver = running_.size() == request_.commands.size();
    if (Termination::signal() != 0) {
      constexpr int kSignalled = 128;  // as a shell reports it
      status_ = kSignalled + Termination::signal();
      return true;
    }
    for (const auto& program : running_) {
      const auto status = program->poll();
      isOver = isOver && status;
      if (status && *status != 0 && status_ == 0) status_ = *status;
    }
    return isOver;
  }
  [[nodiscard]] int status() const { return status_; }

 private:
  bool mayStart() {
    if (running_.empty()) return true;
    if (running_.back()->poll()) return true;
    const auto now = std::chrono::steady_clock::now();
    if (request_.startDelay.count() != 0) return now - started_ >= request_.startDelay;
    // A look takes the kernel a while.
    constexpr auto kBetweenLooks = std::chrono::milliseconds(25);
    if (now - looked_ < kBetweenLooks) return false;
    looked_ = now;
    const bool listens = isListening(running_.back()->process());
    hasServer_ = hasServer_ || listens;
    // One client of several: the next needn't wait for it to listen.
    constexpr auto kPatience = std::chrono::seconds(1);
    return listens || (hasServer_ && now - started_ >= kPatience);
  }
  void startNext() {
    const std::size_t index = running_.size();
    ProgramStart start = startOf(request_, request_.commands[index], folder_);
    start.environment.emplace_back(channel::kSocketVariable, socket_);
    start.output = outputs_[index];
    running_.push_back(std::make_unique<Program>(start));
    started_ = std::chrono::steady_clock::now();
    if (outputs_[index] >= 0) ::close(outputs_[index]);
    outputs_[index] = -1;
  }
  void closeOutputs() {
    for (const int descriptor : outputs_) {
      if (descriptor >= 0) ::close(descriptor);
    }
  }

  const CosimRequest& request_;
  const RunFolder& folder_;
  std::string socket_;
  OutputPrefixer output_;
  std::vector<int> outputs_;
  std::vector<std::unique_ptr<Program>> running_;
  std::chrono::steady_clock::time_point started_;  // the last program
  std::chrono::steady_clock::time_point looked_;   // whether it listens
  bool hasServer_ = false;                         // one of them listened
  int status_ = 0;
};

int runShared(const CosimRequest& request) {
  const RunFolder folder(request.config);
  const std::string socket = folder.path() + "/socket";
  // Ends last: a program may be in a call, and goes on only when the simulation answers or is gone.
  Programs programs(request, folder, socket);
  SharedSimulation simulation(request.config, socket,
                              {{request.resultFile, request.verbsLogFile}, request.sync, folder.path()}, request.err);
  return simulation.serve(programs) ? programs.status() : options::kCosimStuck;
}

}  // namespace

int launch(const CosimRequest& request) {
  const Termination termination;
  try {
    return request.isShared ? runShared(request) : runInProcess(request);
  } catch (const std::exception& error) {
    request.err << "hcasim: " << error.what() << '\n';
    return options::kCosimBadInput;
  }
}

}  // namespace hca::cosim

#include "sim/cosim/launcher.h"

#include <ostream>
#include <set>
#include <stdexcept>
#include <string>

#include "sim/cosim/guarded_launch.h"
#include "sim/cosim/program.h"
#include "sim/cosim/program_environment.h"
#include "sim/cosim/program_group.h"
#include "sim/cosim/run_folder.h"
#include "sim/cosim/shared_simulation.h"
#include "sim/cosim/termination.h"
#include "sim/options/exit_code.h"
#include "verbs_shim/channel/environment.h"

namespace hca::cosim {
namespace {

using options::CosimRequest;

int runInProcess(const CosimRequest& request) {
  const RunFolder folder(request.config);
  const options::CosimCommand& command = request.commands.front();
  ProgramStart start;
  start.words = command.words;
  start.environment = programEnvironment(request.config, command.host, folder.path(), request.hasVirtualTime);
  // It holds the whole simulation: nobody else would end it.
  start.endsWithLauncher = true;
  start.environment.emplace_back(channel::kInprocVariable, findLibrary("libhcasim_inproc.so"));
  start.environment.emplace_back(channel::kResultVariable, request.resultFile);
  start.environment.emplace_back(channel::kVerbsLogVariable, request.verbsLogFile);
  for (const observers::ObserverFileOption& file : observers::kObserverFileOptions) {
    start.environment.emplace_back(file.variable, request.observerFiles.*file.path);
  }
  start.environment.emplace_back(channel::kSyncVariable, sim::toText(request.sync));
  Program program(start);
  while (!program.waitInterruptibly()) program.signal(Termination::signal());
  return *program.poll();
}

class Programs final : public SharedSimulation::Programs {
 public:
  explicit Programs(ProgramGroup& group) : group_(group) {}
  bool areOver() override { return group_.areOver(); }
  bool areAllAmong(const std::set<int>& attached) override { return group_.areAllAmong(attached); }

 private:
  ProgramGroup& group_;
};

int runShared(const CosimRequest& request) {
  const RunFolder folder(request.config, request.name);
  const std::string socket = folder.path() + "/socket";
  // Ends last: a program may be in a call, and goes on only when the simulation answers or is gone.
  ProgramGroup group(
      request.commands,
      [&](std::uint32_t host) {
        Variables variables = programEnvironment(request.config, host, folder.path(), request.hasVirtualTime);
        variables.emplace_back(channel::kSocketVariable, socket);
        return variables;
      },
      request.startDelay, request.out);
  Programs programs(group);
  SharedSimulation simulation(
      request.config, socket,
      {{request.resultFile, request.verbsLogFile, request.observerFiles}, request.sync, folder.path()}, request.err);
  return simulation.serve(programs) ? group.status() : options::kCosimStuck;
}

}  // namespace

int launch(const CosimRequest& request) {
  return guardedLaunch(request.err, [&] { return request.isShared ? runShared(request) : runInProcess(request); });
}

}  // namespace hca::cosim

// Programs of other terminals: `hcasim serve`, `hcasim attach`, `hcasim env`.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <stdexcept>

#include "sim/cosim/launcher.h"
#include "sim/cosim/program_check.h"
#include "sim/cosim/program_environment.h"
#include "sim/cosim/run_folder.h"
#include "sim/cosim/shared_simulation.h"
#include "sim/cosim/termination.h"
#include "sim/drills/drill_request.h"
#include "sim/options/exit_code.h"

namespace hca::cosim {
namespace {

int complain(std::ostream& err, const std::string& what) {
  err << "hcasim: " << what << '\n';
  return options::kCosimBadInput;
}

Variables variablesOf(const options::AttachRequest& request) {
  const std::string folder = RunFolder::pathOf(request.name);
  if (!RunFolder::isServed(folder)) {
    const std::string option = request.name == "default" ? "" : " --name " + request.name;
    throw std::runtime_error("no simulation of the name '" + request.name + "' runs; start one with: hcasim serve" +
                             option);
  }
  return readEnvironment(folder, request.host);
}

// Programs of other terminals may come at any time.
class OtherTerminals final : public SharedSimulation::Programs {
 public:
  bool areOver() override { return Termination::signal() != 0; }
  bool areAllAmong(const std::set<int>&) override { return false; }
};

}  // namespace

int serve(const options::ServeRequest& request) {
  const Termination termination;
  try {
    const RunFolder folder(request.config, request.name);
    const std::string socket = folder.path() + "/socket";
    SharedSimulation simulation(
        request.config, socket,
        {{request.resultFile, request.verbsLogFile, request.observerFiles}, request.sync, folder.path()}, request.err);
    writeEnvironments(request.config, folder.path(), socket, request.hasVirtualTime);
    request.out << "hcasim: serving " << request.config.host.count << " hosts as '" << request.name
                << "'; run programs with: hcasim attach" << (request.name == "default" ? "" : " --name " + request.name)
                << " -H N CMD" << std::endl;
    OtherTerminals programs;
    simulation.serve(programs);
    return options::kDone;
  } catch (const std::exception& error) {
    return complain(request.err, error.what());
  }
}

int drill(const options::DrillRequest& request) {
  const std::string folder = request.folder.empty() ? RunFolder::pathOf(request.name) : request.folder;
  try {
    const sim::DrillAnswer answer = sim::askForDrill(folder, request.keys);
    (answer.isAccepted ? request.out : request.err) << answer.text;
    return answer.isAccepted ? options::kDone : options::kRunFailed;
  } catch (const std::exception& error) {
    return complain(request.err, error.what());
  }
}

int attach(const options::AttachRequest& request) {
  try {
    const Variables variables = variablesOf(request);
    for (const auto& [name, value] : variables) {
      if (request.words.empty()) request.out << name << '=' << value << '\n';
      setenv(name.c_str(), value.c_str(), 1);
    }
    if (request.words.empty()) return options::kDone;
    if (const std::string why = whyNotCosimulated(request.words); !why.empty()) return complain(request.err, why);
    std::vector<char*> words;
    for (const std::string& word : request.words) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
    return complain(request.err, "'" + request.words[0] + "' can't be started: " + std::strerror(errno));
  } catch (const std::exception& error) {
    return complain(request.err, error.what());
  }
}

}  // namespace hca::cosim

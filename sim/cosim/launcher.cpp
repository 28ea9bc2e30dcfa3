#include "sim/cosim/launcher.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>

#include "sim/cosim/program.h"
#include "sim/cosim/run_folder.h"
#include "sim/options/exit_code.h"
#include "verbs_shim/channel/environment.h"

namespace hca::cosim {
namespace {

using options::CosimRequest;

constexpr const char* kPreload = "libhcasim_verbs.so";
constexpr const char* kInproc = "libhcasim_inproc.so";

// The libraries lie beside the program's folder, in the build tree and where it is installed.
std::string findLibrary(const char* name) {
  namespace fs = std::filesystem;
  const fs::path root = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  for (const char* folder : {"lib", "lib/x86_64-linux-gnu", "lib64"}) {
    if (fs::exists(root / folder / name)) return (root / folder / name).string();
  }
  throw std::runtime_error(std::string(name) + " is missing below " + root.string());
}

std::string preloadList() {
  const char* before = std::getenv("LD_PRELOAD");
  const std::string own = findLibrary(kPreload);
  return before == nullptr || *before == '\0' ? own : std::string(before) + ':' + own;
}

ProgramStart startOf(const options::CosimCommand& command, const RunFolder& folder) {
  ProgramStart start;
  start.words = command.words;
  start.environment = {{"LD_PRELOAD", preloadList()},
                       {channel::kRunVariable, folder.path()},
                       {channel::kHostVariable, std::to_string(command.host)}};
  return start;
}

int runInProcess(const CosimRequest& request) {
  const RunFolder folder(request.config);
  ProgramStart start = startOf(request.commands.front(), folder);
  start.environment.emplace_back(channel::kInprocVariable, findLibrary(kInproc));
  return Program(start).wait();
}

}  // namespace

int launch(const CosimRequest& request) {
  try {
    if (request.isShared) throw std::runtime_error("--shared is not there yet");
    return runInProcess(request);
  } catch (const std::exception& error) {
    request.err << "hcasim: " << error.what() << '\n';
    return options::kCosimBadInput;
  }
}

}  // namespace hca::cosim

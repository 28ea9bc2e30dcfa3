#include "sim/cosim/program_environment.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "verbs_shim/channel/environment.h"

namespace hca::cosim {
namespace {

constexpr const char* kLibrary = "libhcasim_verbs.so";

std::string fileOf(const std::string& folder, std::uint32_t host) {
  return folder + "/host" + std::to_string(host) + "/environment";
}

}  // namespace

std::string findLibrary(const char* name) {
  namespace fs = std::filesystem;
  const fs::path root = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  for (const char* folder : {"lib", "lib/x86_64-linux-gnu", "lib64"}) {
    if (fs::exists(root / folder / name)) return (root / folder / name).string();
  }
  throw std::runtime_error(std::string(name) + " is missing below " + root.string());
}

std::string preloadList(const char* name) {
  const char* before = std::getenv("LD_PRELOAD");
  const std::string own = findLibrary(name);
  return before == nullptr || *before == '\0' ? own : std::string(before) + ':' + own;
}

Variables programEnvironment(const config::Config& config, std::uint32_t host, const std::string& folder,
                             bool hasVirtualTime) {
  Variables variables{{"LD_PRELOAD", preloadList(kLibrary)},
                      {channel::kRunVariable, folder},
                      {channel::kHostVariable, std::to_string(host)}};
  constexpr std::int64_t kPerKilohertz = 1000;
  const std::int64_t clock = config.hosts[host].cpu.clock.count() / kPerKilohertz;
  if (hasVirtualTime) variables.emplace_back(channel::kTscVariable, std::to_string(clock));
  return variables;
}

void writeEnvironments(const config::Config& config, const std::string& folder, const std::string& socket,
                       bool hasVirtualTime) {
  for (std::uint32_t host = 0; host < config.host.count; ++host) {
    Variables variables = programEnvironment(config, host, folder, hasVirtualTime);
    variables.emplace_back(channel::kSocketVariable, socket);
    std::ofstream out(fileOf(folder, host));
    for (const auto& [name, value] : variables) {
      if (name != "LD_PRELOAD") out << name << '=' << value << '\n';
    }
  }
}

Variables readEnvironment(const std::string& folder, std::uint32_t host) {
  std::ifstream in(fileOf(folder, host));
  if (!in) throw std::runtime_error("the simulation has no host " + std::to_string(host));
  Variables variables{{"LD_PRELOAD", preloadList(kLibrary)}};
  for (std::string line; std::getline(in, line);) {
    const auto at = line.find('=');
    if (at != std::string::npos) variables.emplace_back(line.substr(0, at), line.substr(at + 1));
  }
  return variables;
}

}  // namespace hca::cosim

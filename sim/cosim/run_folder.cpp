#include "sim/cosim/run_folder.h"

#include <stdlib.h>  // NOLINT: mkdtemp is POSIX

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "sim/config/config_text.h"
#include "sim/cosim/sysfs_tree.h"
#include "verbs_shim/channel/environment.h"

namespace hca::cosim {
namespace {

// The machine's own processors, but for their rate, which with virtual time is that of the time stamp counter.
void writeProcessors(const std::string& folder, Hertz clock) {
  constexpr double kPerMegahertz = 1e6;
  std::filesystem::create_directories(folder + "/proc");
  std::ofstream out(folder + "/proc/cpuinfo");
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const bool isRate = line.compare(0, 7, "cpu MHz") == 0;
    if (isRate) line = "cpu MHz\t\t: " + std::to_string(static_cast<double>(clock.count()) / kPerMegahertz);
    out << line << '\n';
  }
}

}  // namespace

RunFolder::RunFolder(const config::Config& config) {
  path_ = (std::filesystem::temp_directory_path() / "hcasim-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no folder can be made below " + path_);
  std::ofstream(path_ + '/' + channel::kConfigFile) << config::effectiveIni(config, false);
  for (std::uint32_t host = 0; host < config.host.count; ++host) {
    writeProcessors(path_ + "/host" + std::to_string(host), config.hosts[host].cpu.clock);
    for (const DeviceDescription& device : describeDevices(config, HostIndex(host))) {
      writeSysfsTree(path_ + "/host" + std::to_string(host), device);
    }
  }
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace hca::cosim

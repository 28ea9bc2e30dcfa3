#include "sim/cosim/run_folder.h"

#include <stdlib.h>  // NOLINT: mkdtemp is POSIX

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "sim/config/config_text.h"
#include "sim/cosim/sysfs_tree.h"
#include "verbs_shim/channel/environment.h"

namespace hca::cosim {

RunFolder::RunFolder(const config::Config& config) {
  path_ = (std::filesystem::temp_directory_path() / "hcasim-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no folder can be made below " + path_);
  std::ofstream(path_ + '/' + channel::kConfigFile) << config::effectiveIni(config, false);
  for (std::uint32_t host = 0; host < config.host.count; ++host) {
    writeSysfsTree(path_ + "/host" + std::to_string(host), describeDevice(config, HostIndex(host)));
  }
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace hca::cosim

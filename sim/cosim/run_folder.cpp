#include "sim/cosim/run_folder.h"

#include <fcntl.h>
#include <stdlib.h>  // NOLINT: mkdtemp is POSIX
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

constexpr const char* kServeLock = "/serve.lock";

// Nobody else may put anything there.
void makeOwnFolder(const std::string& path) {
  struct stat found {};
  const bool isMade = mkdir(path.c_str(), S_IRWXU) == 0;
  const bool isOwn = isMade || (lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
                                found.st_uid == geteuid() && (found.st_mode & (S_IRWXG | S_IRWXO)) == 0);
  if (!isOwn) throw std::runtime_error("'" + path + "' is no folder of this user alone");
}

// The lock of a folder; -1 if somebody has it, or if there is none.
int takeLock(const std::string& folder, int flags) {
  const int fd = ::open((folder + kServeLock).c_str(), O_RDWR | O_CLOEXEC | flags, S_IRUSR | S_IWUSR);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  ::close(fd);
  return -1;
}

std::string commonFolder() {
  return (std::filesystem::temp_directory_path() / ("hcasim-" + std::to_string(geteuid()))).string();
}

}  // namespace

std::string RunFolder::pathOf(const std::string& name) { return commonFolder() + '/' + name; }

bool RunFolder::isServed(const std::string& path) {
  if (!std::filesystem::exists(path + kServeLock)) return false;
  const int lock = takeLock(path, 0);
  if (lock >= 0) ::close(lock);
  return lock < 0;
}

RunFolder::RunFolder(const config::Config& config, const std::string& name) {
  if (name.empty()) {
    path_ = (std::filesystem::temp_directory_path() / "hcasim-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no folder can be made below " + path_);
  } else {
    makeNamed(name);
  }
  fill(config);
}

void RunFolder::makeNamed(const std::string& name) {
  path_ = pathOf(name);
  makeOwnFolder(commonFolder());
  if (isServed(path_)) throw std::runtime_error("a simulation of the name '" + name + "' runs already");
  std::filesystem::remove_all(path_);
  makeOwnFolder(path_);
  lock_ = takeLock(path_, O_CREAT);
  if (lock_ < 0) throw std::runtime_error("a simulation of the name '" + name + "' was just started");
}

void RunFolder::fill(const config::Config& config) {
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
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace hca::cosim

// The folder that programs and simulation share while a co-simulation runs.
#pragma once

#include <string>

#include "sim/config/config.h"

namespace hca::cosim {

/// For this user alone; holds the configuration, and for each host the files by which programs find its devices. Gone
/// with this object.
class RunFolder {
 public:
  /// Throws std::runtime_error or std::filesystem::filesystem_error if it can't be made.
  /// Others find it by `name`, unless that is empty: see `pathOf`. What an earlier simulation left there is removed;
  /// throws if one still runs there.
  explicit RunFolder(const config::Config& config, const std::string& name = {});
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Of this user's simulation of that name.
  [[nodiscard]] static std::string pathOf(const std::string& name);
  /// Whether a simulation runs in the folder `path`.
  [[nodiscard]] static bool isServed(const std::string& path);

 private:
  void makeNamed(const std::string& name);
  void fill(const config::Config& config);

  std::string path_;
  int lock_ = -1;  // held as long as the simulation runs
};

}  // namespace hca::cosim

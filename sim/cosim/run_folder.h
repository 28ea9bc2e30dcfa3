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
  explicit RunFolder(const config::Config& config);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace hca::cosim

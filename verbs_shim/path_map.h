// Which paths of the program are served from the folder of the run.
#pragma once

#include <limits.h>

namespace hca::shim {

/// The file behind `path` for this program; `path` itself where the real one is meant.
class MappedPath {
 public:
  explicit MappedPath(const char* path);
  [[nodiscard]] const char* get() const { return path_; }
  /// Of /dev/infiniband/uverbsN: N; -1 for any other path.
  [[nodiscard]] int device() const { return device_; }

 private:
  const char* path_;
  int device_ = -1;
  char buffer_[PATH_MAX];
};

}  // namespace hca::shim

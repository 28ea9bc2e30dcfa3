// Files through which programs of one host share XRC domains.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace hca::cosim {

/// By the file's identity. A file counts while some program has a domain open through it, whoever opened it first.
class SharedFiles {
 public:
  using File = std::pair<dev_t, ino_t>;
  /// What the driver knows the file by (DriverRole::openXrcd).
  using Identity = std::shared_ptr<const std::uint64_t>;

  /// Null if nobody has a domain open through it.
  [[nodiscard]] Identity find(const File& file) const {
    const auto at = files_.find(file);
    return at == files_.end() ? nullptr : at->second.lock();
  }
  Identity add(const File& file) {
    const Identity identity = std::make_shared<const std::uint64_t>(++lastIdentity_);
    files_[file] = identity;
    return identity;
  }

 private:
  std::map<File, std::weak_ptr<const std::uint64_t>> files_;
  std::uint64_t lastIdentity_ = 0;
};

}  // namespace hca::cosim

// A Linux initial file system.
#pragma once

#include <set>
#include <string>

namespace hca::vm {

/// Files in the "newc" format of cpio, which the kernel unpacks at start-up; several archives may stand one behind the
/// other in one file, a later one wins. Source: Documentation/driver-api/early-userspace/buffer-format.rst of Linux.
class CpioArchive {
 public:
  /// `path` without a leading slash; folders above it are made. `mode`: permission bits.
  void addFile(const std::string& path, const std::string& content, unsigned mode = 0644);
  void addLink(const std::string& path, const std::string& target);
  void addFolder(const std::string& path);
  /// A file, a link or a folder of this machine with everything in it. Throws std::runtime_error if it can't be read.
  void addCopy(const std::string& path, const std::string& source);

  /// Ends it: nothing can be added any more. A multiple of 512 bytes.
  [[nodiscard]] std::string finish();

 private:
  void addParents(const std::string& path);
  void append(const std::string& path, unsigned mode, const std::string& content);

  std::string bytes_;
  std::set<std::string> folders_;  // that are there
  unsigned next_ = 1;              // inode number
};

}  // namespace hca::vm

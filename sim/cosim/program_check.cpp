#include "sim/cosim/program_check.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <sstream>

namespace hca::cosim {
namespace {

class File {
 public:
  explicit File(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  template <class Struct>
  [[nodiscard]] bool read(Struct& into, std::uint64_t at) const {
    return ::pread(descriptor_, &into, sizeof into, static_cast<off_t>(at)) == static_cast<ssize_t>(sizeof into);
  }

 private:
  int descriptor_;
};

// As execvp(3) looks for it; empty if it isn't there.
std::string findProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* list = std::getenv("PATH");
  std::istringstream folders(list == nullptr ? "/bin:/usr/bin" : list);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string path = (folder.empty() ? "." : folder) + '/' + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

bool hasInterpreter(const File& file, const Elf64_Ehdr& header) {
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!file.read(segment, header.e_phoff + std::uint64_t{i} * header.e_phentsize)) return false;
    if (segment.p_type == PT_INTERP) return true;
  }
  return false;
}

bool gainsRights(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return false;
  const bool isOtherUser = (found.st_mode & S_ISUID) != 0 && found.st_uid != ::geteuid();
  const bool isOtherGroup = (found.st_mode & S_ISGID) != 0 && found.st_gid != ::getegid();
  const bool hasCapabilities = ::geteuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  return isOtherUser || isOtherGroup || hasCapabilities;
}

std::string reasonOf(const std::string& path) {
  const File file(path);
  Elf64_Ehdr header{};
  if (!file.read(header.e_ident, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  if (header.e_ident[EI_CLASS] == ELFCLASS32) {
    return "is a 32-bit program; co-simulation is for x86-64 programs: build it for 64 bits (without -m32)";
  }
  if (!file.read(header, 0)) return {};
  if (header.e_machine != EM_X86_64) {
    return "is for another processor (ELF machine " + std::to_string(header.e_machine) +
           "); co-simulation is for x86-64 programs: build it for this machine";
  }
  if (!hasInterpreter(file, header)) {
    return "is linked statically, so that no library can be loaded into it: link it dynamically, against libibverbs";
  }
  if (gainsRights(path)) {
    return "runs with more rights than its user has (setuid, setgid or capabilities), and the loader ignores preloaded "
           "libraries then: run a copy without these, made with cp";
  }
  return {};
}

}  // namespace

std::string whyNotCosimulated(const std::vector<std::string>& words) {
  const std::string path = words.empty() ? "" : findProgram(words.front());
  if (path.empty()) return {};
  const std::string reason = reasonOf(path);
  return reason.empty() ? "" : "'" + path + "' " + reason;
}

}  // namespace hca::cosim

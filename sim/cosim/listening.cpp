#include "sim/cosim/listening.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "sim/cosim/process_family.h"

namespace hca::cosim {
namespace {

namespace fs = std::filesystem;

// Inodes of the sockets that listen, of one address family (proc(5), /proc/net/tcp).
void addListening(const fs::path& table, std::set<std::string>& inodes) {
  constexpr const char* kListen = "0A";
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string slot, local, remote, state, queues, timer, retransmits, user, timeouts, inode;
    words >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeouts >> inode;
    if (state == kListen) inodes.insert("socket:[" + inode + ']');
  }
}

bool hasOneOf(const fs::path& process, const std::set<std::string>& sockets) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(process / "fd", error)) {
    const fs::path target = fs::read_symlink(entry.path(), error);
    if (!error && sockets.count(target.string()) != 0) return true;
  }
  return false;
}

}  // namespace

bool isListening(pid_t process) {
  const fs::path folder = fs::path("/proc") / std::to_string(process);
  std::set<std::string> sockets;
  addListening(folder / "net" / "tcp", sockets);
  addListening(folder / "net" / "tcp6", sockets);
  if (!sockets.empty() && hasOneOf(folder, sockets)) return true;
  bool isAny = false;
  forEachChild(process, [&isAny](pid_t child) { isAny = isAny || isListening(child); });
  return isAny;
}

}  // namespace hca::cosim

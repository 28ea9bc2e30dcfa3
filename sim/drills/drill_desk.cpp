#include "sim/drills/drill_desk.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "sim/config/config_loader.h"
#include "sim/drills/drill_request.h"
#include "sim/report/result_table.h"

namespace hca::sim {
namespace {

int listenAt(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("'" + path + "' is too long for a socket");
  std::strcpy(address.sun_path, path.c_str());
  ::unlink(path.c_str());
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const mode_t before = umask(0077);
  const bool isBound = fd >= 0 && bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  umask(before);
  constexpr int kBacklog = 8;
  if (!isBound || listen(fd, kBacklog) != 0) throw std::runtime_error("no socket can be made at '" + path + "'");
  return fd;
}

}  // namespace

DrillDesk::DrillDesk(DrillBench& bench, const config::Config& config, const std::string& folder,
                     std::function<Time()> now)
    : bench_(bench), config_(config), path_(drillSocketOf(folder)), now_(std::move(now)), socket_(listenAt(path_)) {}

DrillDesk::~DrillDesk() {
  for (const Visitor& visitor : visitors_) ::close(visitor.connection);
  ::close(socket_);
  ::unlink(path_.c_str());
}

bool DrillDesk::look() {
  constexpr std::size_t kMost = 16;
  while (visitors_.size() < kMost) {
    const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0) break;
    visitors_.push_back({connection});
  }
  bool isNew = false;
  const auto isServed = [&](Visitor& visitor) {
    const bool isOver = take(visitor, isNew);
    if (isOver) ::close(visitor.connection);
    return isOver;
  };
  visitors_.erase(std::remove_if(visitors_.begin(), visitors_.end(), isServed), visitors_.end());
  return isNew;
}

// True when there is nothing left to do for this one.
bool DrillDesk::take(Visitor& visitor, bool& isNew) {
  if (!visitor.hasAsked) {
    std::array<char, 8192> buffer{};
    const ssize_t length = recv(visitor.connection, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (length < 0) return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
    if (length == 0) return true;
    std::vector<config::Assignment> keys;
    for (const auto& [key, value] : keysOf(std::string(buffer.data(), static_cast<std::size_t>(length)))) {
      keys.push_back({{}, key, value, {key + '=' + value, 0}});
    }
    const config::LoadedDrill loaded = config::loadDrill(config_, "now-" + std::to_string(++asked_), keys);
    std::string problems;
    for (const config::Problem& problem : loaded.problems) problems += describe(problem) + '\n';
    if (!problems.empty()) return answer(visitor, false, problems), true;
    visitor.hasAsked = isNew = true;
    visitor.drill = bench_.perform(loaded.drill, now_());
  }
  if (!bench_.hasBegun(visitor.drill)) return false;
  answer(visitor, true, report::drillText(bench_.result(visitor.drill)));
  return true;
}

void DrillDesk::answer(const Visitor& visitor, bool isAccepted, const std::string& text) {
  const std::string message = (isAccepted ? '+' : '-') + text;
  (void)send(visitor.connection, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace hca::sim

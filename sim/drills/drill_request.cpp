#include "sim/drills/drill_request.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace hca::sim {
namespace {

/// A descriptor that is closed in the end.
class Connection {
 public:
  explicit Connection(const std::string& path) : fd_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const bool fits = path.size() < sizeof address.sun_path;
    if (fits) std::strcpy(address.sun_path, path.c_str());
    if (fits && fd_ >= 0 && connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
    if (fd_ >= 0) ::close(fd_);
    throw std::runtime_error("no simulation listens at '" + path + "'");
  }
  ~Connection() { ::close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::string toMessage(const DrillKeys& keys) {
  std::string message;
  for (const auto& [key, value] : keys) message += key + '=' + value + '\n';
  return message;
}

DrillKeys keysOf(const std::string& message) {
  DrillKeys keys;
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find('=');
    if (at != std::string::npos) keys.emplace_back(line.substr(0, at), line.substr(at + 1));
  }
  return keys;
}

std::string drillSocketOf(const std::string& folder) { return folder + "/drills"; }

DrillAnswer askForDrill(const std::string& folder, const DrillKeys& keys) {
  constexpr int kPatience = 10'000;  // milliseconds
  const Connection connection(drillSocketOf(folder));
  const std::string message = toMessage(keys);
  pollfd ready{connection.fd(), POLLIN, 0};
  std::array<char, 65536> buffer{};
  const bool isSent = send(connection.fd(), message.data(), message.size(), MSG_NOSIGNAL) >= 0;
  const ssize_t length =
      isSent && poll(&ready, 1, kPatience) == 1 ? recv(connection.fd(), buffer.data(), buffer.size(), 0) : 0;
  if (length <= 0) throw std::runtime_error("the simulation doesn't answer: its time stands still, or it has ended");
  return {buffer[0] == '+', std::string(buffer.data() + 1, static_cast<std::size_t>(length) - 1)};
}

}  // namespace hca::sim

#include "sim/vm/ethernet_hub.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <utility>

#include "sim/vm/unix_address.h"

namespace hca::vm {

EthernetHub::EthernetHub(std::string folder, std::uint32_t ports) : folder_(std::move(folder)) {
  for (std::uint32_t port = 0; port < ports; ++port) sockets_.push_back(boundSocket(hubEnd(port), SOCK_DGRAM));
  if (pipe2(wake_, O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made");
  thread_ = std::thread([this] { run(); });
}

EthernetHub::~EthernetHub() {
  (void)!::write(wake_[1], "", 1);
  thread_.join();
  for (const int fd : sockets_) ::close(fd);
  for (const int fd : wake_) ::close(fd);
}

std::string EthernetHub::hubEnd(std::uint32_t port) const { return folder_ + "/hub" + std::to_string(port); }
std::string EthernetHub::guestEnd(std::uint32_t port) const { return folder_ + "/net" + std::to_string(port); }

void EthernetHub::run() {
  std::vector<pollfd> waits;
  for (const int fd : sockets_) waits.push_back({fd, POLLIN, 0});
  waits.push_back({wake_[0], POLLIN, 0});
  for (;;) {
    ::poll(waits.data(), waits.size(), -1);
    if (waits.back().revents != 0) return;
    for (std::uint32_t port = 0; port < sockets_.size(); ++port) {
      if (waits[port].revents != 0) forward(port);
    }
  }
}

// A guest that isn't there, or takes nothing at the moment, misses frames, as on a cable.
void EthernetHub::forward(std::uint32_t from) {
  constexpr std::size_t kLongestFrame = 68 * 1024;  // with segmentation left to the device
  static thread_local char frame[kLongestFrame];
  for (;;) {
    const ssize_t length = ::recv(sockets_[from], frame, sizeof frame, 0);
    if (length <= 0) return;
    ++frames_;
    for (std::uint32_t to = 0; to < sockets_.size(); ++to) {
      if (to == from) continue;
      const sockaddr_un address = unixAddress(guestEnd(to));
      (void)::sendto(sockets_[to], frame, static_cast<std::size_t>(length), 0,
                     reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
  }
}

}  // namespace hca::vm

// The network between guests.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace hca::vm {

/// A hub: a frame of one guest goes to all others. Each guest has two Unix datagram sockets in a folder, its own (QEMU
/// makes it) and the hub's end; QEMU's `-netdev dgram` sends one frame a datagram.
class EthernetHub {
 public:
  /// Throws std::runtime_error if a socket can't be made.
  EthernetHub(std::string folder, std::uint32_t ports);
  ~EthernetHub();
  EthernetHub(const EthernetHub&) = delete;
  EthernetHub& operator=(const EthernetHub&) = delete;

  /// Where a guest's frames go to, and where it receives them.
  [[nodiscard]] std::string hubEnd(std::uint32_t port) const;
  [[nodiscard]] std::string guestEnd(std::uint32_t port) const;
  [[nodiscard]] std::uint64_t frames() const { return frames_; }

 private:
  void run();
  void forward(std::uint32_t from);

  std::string folder_;
  std::vector<int> sockets_;
  int wake_[2] = {-1, -1};  // a byte ends the thread
  std::atomic<std::uint64_t> frames_{0};
  std::thread thread_;
};

}  // namespace hca::vm

#include "sim/vm/ethernet_hub.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>  // NOLINT: mkdtemp is POSIX
#include <unistd.h>

#include <filesystem>

#include "sim/vm/unix_address.h"

namespace hca::vm {
namespace {

class EthernetHubTest : public testing::Test {
 protected:
  EthernetHubTest() {
    folder_ = "/tmp/hub-XXXXXX";
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~EthernetHubTest() override { std::filesystem::remove_all(folder_); }

  static void send(int socket, const std::string& path, const std::string& frame) {
    const sockaddr_un address = unixAddress(path);
    EXPECT_EQ(
        ::sendto(socket, frame.data(), frame.size(), 0, reinterpret_cast<const sockaddr*>(&address), sizeof address),
        static_cast<ssize_t>(frame.size()));
  }
  static std::string receive(int socket, int milliseconds) {
    pollfd wait{socket, POLLIN, 0};
    char bytes[2048];
    if (::poll(&wait, 1, milliseconds) != 1) return "";
    const ssize_t length = ::recv(socket, bytes, sizeof bytes, 0);
    return {bytes, static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
  }

  std::string folder_;
};

TEST_F(EthernetHubTest, PassesAFrameToAllOthers) {
  EthernetHub hub(folder_, 3);
  const int a = boundSocket(hub.guestEnd(0), SOCK_DGRAM);
  const int c = boundSocket(hub.guestEnd(2), SOCK_DGRAM);
  send(a, hub.hubEnd(0), "frame");  // guest 1 isn't there
  EXPECT_EQ(receive(c, 2000), "frame");
  EXPECT_EQ(receive(a, 0), "");
  send(c, hub.hubEnd(2), std::string(1514, 'x'));
  EXPECT_EQ(receive(a, 2000).size(), 1514U);
  EXPECT_EQ(hub.frames(), 2U);
  ::close(a);
  ::close(c);
}

TEST_F(EthernetHubTest, RefusesAFolderWhosePathIsTooLong) {
  EXPECT_THROW(EthernetHub(folder_ + std::string(120, 'x'), 1), std::runtime_error);
}

}  // namespace
}  // namespace hca::vm

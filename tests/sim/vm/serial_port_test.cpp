#include "sim/vm/serial_port.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/vm/unix_address.h"

namespace hca::vm {
namespace {

TEST(SerialPort, PassesBytesBothWaysAndSeesTheEnd) {
  SerialPort port("/tmp/serial_port_test." + std::to_string(getpid()));
  EXPECT_EQ(port.read(), "");
  port.write("early");  // before anybody is there
  const int guest = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const sockaddr_un address = unixAddress(port.path());
  ASSERT_EQ(::connect(guest, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::write(guest, "ready\n", 6), 6);
  EXPECT_EQ(port.read(), "ready\n");
  char bytes[16];
  EXPECT_EQ(::read(guest, bytes, sizeof bytes), 5);
  EXPECT_FALSE(port.isClosed());
  ::close(guest);
  EXPECT_EQ(port.read(), "");
  EXPECT_TRUE(port.isClosed());
  ::unlink(port.path().c_str());
}

}  // namespace
}  // namespace hca::vm

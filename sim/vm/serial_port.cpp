#include "sim/vm/serial_port.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "sim/vm/unix_address.h"

namespace hca::vm {

SerialPort::SerialPort(std::string path) : path_(std::move(path)), listener_(boundSocket(path_, SOCK_STREAM)) {
  ::listen(listener_, 1);
}

SerialPort::~SerialPort() {
  ::close(listener_);
  if (connection_ >= 0) ::close(connection_);
}

bool SerialPort::isConnected() {
  if (connection_ < 0) connection_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  return connection_ >= 0;
}

std::string SerialPort::read() {
  std::string text;
  write({});
  while (isConnected() && !isClosed_) {
    char bytes[4096];
    const ssize_t length = ::recv(connection_, bytes, sizeof bytes, 0);
    if (length > 0) text.append(bytes, static_cast<std::size_t>(length));
    if (length == 0) isClosed_ = true;
    if (length < 0 && errno != EINTR) break;
  }
  return text;
}

void SerialPort::write(std::string_view bytes) {
  unsent_ += bytes;
  if (unsent_.empty() || !isConnected()) return;
  const ssize_t length = ::send(connection_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
  if (length > 0) unsent_.erase(0, static_cast<std::size_t>(length));
}

}  // namespace hca::vm

#include "sim/vm/unix_address.h"

#include <unistd.h>

#include <cerrno>

namespace hca::vm {

int boundSocket(const std::string& path, int type) {
  const sockaddr_un address = unixAddress(path);
  const int fd = ::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  ::unlink(path.c_str());
  if (fd >= 0 && ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  throw std::runtime_error("the socket '" + path + "' can't be made: " + std::strerror(error));
}

}  // namespace hca::vm

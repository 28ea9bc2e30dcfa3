// The address of a Unix socket.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <stdexcept>
#include <string>

namespace hca::vm {

/// Throws std::runtime_error if the path is too long for one (107 bytes).
[[nodiscard]] inline sockaddr_un unixAddress(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw std::runtime_error("the path '" + path + "' is too long for a socket");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

/// A socket of that type bound to `path`. Throws std::runtime_error if that fails.
[[nodiscard]] int boundSocket(const std::string& path, int type);

}  // namespace hca::vm

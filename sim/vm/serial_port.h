// A serial port of a guest.
#pragma once

#include <string>
#include <string_view>

namespace hca::vm {

/// A Unix socket to which QEMU connects its end. Never blocks.
class SerialPort {
 public:
  /// Throws std::runtime_error if the socket can't be made.
  explicit SerialPort(std::string path);
  ~SerialPort();
  SerialPort(const SerialPort&) = delete;
  SerialPort& operator=(const SerialPort&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// What has come since the last time; empty if nothing has.
  [[nodiscard]] std::string read();
  /// QEMU has been there and is gone.
  [[nodiscard]] bool isClosed() const { return isClosed_; }
  void write(std::string_view bytes);

 private:
  bool isConnected();

  std::string path_;
  int listener_;
  int connection_ = -1;
  bool isClosed_ = false;
  std::string unsent_;
};

}  // namespace hca::vm

// The user's terminal while a guest's shell is on it.
#pragma once

#include <termios.h>

#include <string>

namespace hca::vm {

/// Passes keys on one by one as long as it lives. Ctrl-A x asks for the end, Ctrl-A Ctrl-A is a Ctrl-A.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// What was typed since the last time, for the guest.
  [[nodiscard]] std::string read();
  [[nodiscard]] bool wantsEnd() const { return wantsEnd_; }
  static void write(const std::string& bytes);
  /// As stty takes it: "rows 24 cols 80".
  [[nodiscard]] static std::string size();

  /// The meaning of keys; the rest is for the guest.
  [[nodiscard]] std::string filter(const std::string& typed);

 private:
  bool isTerminal_;
  termios before_{};
  bool isEscaped_ = false, wantsEnd_ = false;
  bool isOver_ = false;  // no more input
};

}  // namespace hca::vm

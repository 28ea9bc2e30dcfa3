#include "sim/vm/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <utility>

namespace hca::vm {
namespace {
constexpr char kEscape = 1;  // Ctrl-A
}

Terminal::Terminal() : isTerminal_(isatty(STDIN_FILENO) != 0 && tcgetattr(STDIN_FILENO, &before_) == 0) {
  if (!isTerminal_) return;
  termios raw = before_;
  cfmakeraw(&raw);
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

Terminal::~Terminal() {
  if (isTerminal_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

std::string Terminal::read() {
  pollfd wait{STDIN_FILENO, POLLIN, 0};
  char bytes[256];
  if (isOver_ || ::poll(&wait, 1, 0) <= 0) return {};
  const ssize_t length = ::read(STDIN_FILENO, bytes, sizeof bytes);
  if (length > 0) return filter({bytes, static_cast<std::size_t>(length)});
  constexpr char kEndOfInput = 4;  // Ctrl-D
  return std::exchange(isOver_, true) ? std::string() : std::string(1, kEndOfInput);
}

std::string Terminal::filter(const std::string& typed) {
  std::string keys;
  for (const char key : typed) {
    const bool wasEscaped = isEscaped_;
    isEscaped_ = key == kEscape && !wasEscaped;
    if (isEscaped_) continue;
    if (wasEscaped && (key == 'x' || key == 'X'))
      wantsEnd_ = true;
    else
      keys += key;
  }
  return keys;
}

void Terminal::write(const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t length = ::write(STDOUT_FILENO, bytes.data() + done, bytes.size() - done);
    if (length <= 0) return;
    done += static_cast<std::size_t>(length);
  }
}

std::string Terminal::size() {
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_row == 0) return {};
  return "rows " + std::to_string(window.ws_row) + " cols " + std::to_string(window.ws_col);
}

}  // namespace hca::vm

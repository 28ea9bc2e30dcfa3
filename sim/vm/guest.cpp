#include "sim/vm/guest.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace hca::vm {
namespace {

constexpr unsigned kConsole = 0, kOutput = 1, kStatus = 2, kKernel = 3;
constexpr std::size_t kConsoleLines = 40;

// Calls `take` for each line that `rest` with `bytes` behind it completes.
template <class Take>
void takeLines(std::string& rest, const std::string& bytes, Take&& take) {
  for (const char c : bytes) {
    if (c == '\n')
      take(std::exchange(rest, {}));
    else if (c != '\r')
      rest += c;
  }
}

std::string timeText(std::chrono::microseconds time) {
  constexpr long kPerSecond = 1'000'000;
  char text[32];
  std::snprintf(text, sizeof text, "[%5ld.%06ld] ", static_cast<long>(time.count()) / kPerSecond,
                static_cast<long>(time.count()) % kPerSecond);
  return text;
}

}  // namespace

Guest::Guest(Setting setting)
    : setting_(std::move(setting)),
      console_(portPath(kConsole)),
      status_(portPath(kStatus)),
      kernel_(portPath(kKernel)),
      isReady_(!setting_.isOurs),
      takesKeys_(!setting_.isOurs) {
  if (setting_.hasOutput) output_ = std::make_unique<SerialPort>(portPath(kOutput));
}

std::string Guest::portPath(unsigned port) const { return setting_.folder + "/ttyS" + std::to_string(port); }

void Guest::start(const std::vector<std::string>& words, std::vector<std::pair<std::string, std::string>> environment) {
  cosim::ProgramStart start;
  start.words = words;
  start.environment = std::move(environment);
  start.endsWithLauncher = true;
  start.output = ::open((setting_.folder + "/qemu.log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
  program_ = std::make_unique<cosim::Program>(start);
  ::close(start.output);
}

void Guest::step() {
  const auto wall = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - created_);
  const std::string console = console_.read(), kernel = kernel_.read();
  // Before the output, which has come before the word of its end then.
  const std::string status = status_.read();
  const std::string output = output_ ? output_->read() : std::string();
  takeConsole(console);
  log_.take(kernel, setting_.simulated(), wall);
  if (!output.empty() && setting_.output) setting_.output(output);
  takeStatus(status);
  if (console.empty() && kernel.empty() && status.empty() && output.empty()) return;
  lastWord_ = Clock::now();
  hasSpoken_ = true;
}

void Guest::takeConsole(const std::string& bytes) {
  if (!setting_.isOurs && setting_.output) setting_.output(bytes);
  takeLines(consoleRest_, bytes, [this](std::string line) {
    // Its trace may be longer than what is kept.
    const auto panic = line.find("Kernel panic");
    if (panic != std::string::npos && panic_.empty()) panic_ = line.substr(panic);
    consoleLines_.push_back(std::move(line));
    if (consoleLines_.size() > kConsoleLines) consoleLines_.pop_front();
  });
}

void Guest::takeStatus(const std::string& bytes) {
  takeLines(statusRest_, bytes, [this](const std::string& line) { takeWord(line); });
}

void Guest::takeWord(const std::string& line) {
  const auto space = std::min(line.find(' '), line.size());
  const std::string word = line.substr(0, space), rest = line.substr(std::min(space + 1, line.size()));
  if (word == "ready") isReady_ = true;
  if (word == "listening") isListening_ = true;
  if (word == "shell") takesKeys_ = true;
  if (word == "halted") hasHalted_ = true;
  if (word == "trouble") troubles_.push_back(rest);
  if (word == "exit") exitStatus_ = std::atoi(rest.c_str());
}

void Guest::run() {
  isRunning_ = true;
  status_.write("run\n");
}

// What is typed before the shell is there would be lost.
void Guest::type(const std::string& bytes) {
  keys_ += bytes;
  if (!takesKeys_) return;
  SerialPort& port = setting_.isOurs ? *output_ : console_;
  port.write(std::exchange(keys_, {}));
}

void Guest::halt() { status_.write("halt\n"); }

void Guest::kill(int signal) const {
  if (program_) program_->signal(signal);
}

std::string Guest::lastLines() const {
  constexpr std::size_t kKernelLines = 20;
  std::string text;
  const auto& lines = log_.lines();
  if (!lines.empty()) text += "  the last lines of its kernel:\n";
  for (std::size_t i = lines.size() - std::min(lines.size(), kKernelLines); i < lines.size(); ++i) {
    text += "    " + timeText(lines[i].guestTime) + lines[i].text + '\n';
  }
  if (!consoleLines_.empty()) text += "  the last lines of its console:\n";
  for (const std::string& line : consoleLines_) text += "    " + line + '\n';
  std::ifstream qemu(setting_.folder + "/qemu.log");
  for (std::string line; std::getline(qemu, line);) text += "    QEMU: " + line + '\n';
  return text;
}

}  // namespace hca::vm

// One guest.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/cosim/program.h"
#include "sim/vm/kernel_log.h"
#include "sim/vm/serial_port.h"

namespace hca::vm {

/// A QEMU process and what comes over the guest's serial ports; the words on ttyS2 are those of tools/guest/init.
class Guest {
 public:
  using Clock = std::chrono::steady_clock;
  struct Setting {
    std::uint32_t host = 0;
    std::string folder;     ///< for sockets and what QEMU prints; exists
    bool hasOutput = true;  ///< ttyS1 is read here; otherwise QEMU waits for somebody who connects
    bool isOurs = true;     ///< its first program speaks with us; otherwise it counts as ready at once
    std::function<Time()> simulated;
    std::function<void(const std::string&)> output;  ///< gets what the command prints
  };
  explicit Guest(Setting setting);

  [[nodiscard]] std::uint32_t host() const { return setting_.host; }
  [[nodiscard]] std::string name() const { return "host" + std::to_string(host()); }
  [[nodiscard]] std::string portPath(unsigned port) const;
  [[nodiscard]] KernelLog& kernelLog() { return log_; }
  [[nodiscard]] const KernelLog& kernelLog() const { return log_; }

  /// Throws std::runtime_error if QEMU can't be started.
  void start(const std::vector<std::string>& words, std::vector<std::pair<std::string, std::string>> environment);
  /// Reads what has come.
  void step();

  void run();
  /// To be called once; the guest unloads its driver and switches itself off.
  void halt();
  /// For its shell, or for its console if its first program isn't ours. Empty: what is still to be passed on.
  void type(const std::string& bytes);
  void kill(int signal) const;

  [[nodiscard]] bool isReady() const { return isReady_; }
  [[nodiscard]] bool isRunning() const { return isRunning_; }
  [[nodiscard]] bool isListening() const { return isListening_; }
  /// Of the command.
  [[nodiscard]] std::optional<int> exitStatus() const { return exitStatus_; }
  /// The guest's last word: it is about to switch itself off.
  [[nodiscard]] bool hasHalted() const { return hasHalted_; }
  /// What its kernel said when it gave up; empty: it didn't.
  [[nodiscard]] const std::string& panic() const { return panic_; }
  /// Of QEMU; nothing while it runs.
  [[nodiscard]] std::optional<int> qemuStatus() { return program_ ? program_->poll() : std::optional<int>(); }
  /// QEMU doesn't run, or never did.
  [[nodiscard]] bool isGone() { return !program_ || program_->poll(); }
  /// What its first program couldn't do.
  [[nodiscard]] const std::vector<std::string>& troubles() const { return troubles_; }
  /// When anything came from it.
  [[nodiscard]] Clock::time_point lastWord() const { return lastWord_; }
  [[nodiscard]] bool hasSpoken() const { return hasSpoken_; }

  /// The last lines of kernel, console and QEMU, for a person.
  [[nodiscard]] std::string lastLines() const;

 private:
  void takeConsole(const std::string& bytes);
  void takeStatus(const std::string& bytes);
  void takeWord(const std::string& line);

  Setting setting_;
  Clock::time_point created_ = Clock::now();
  SerialPort console_, status_, kernel_;
  std::unique_ptr<SerialPort> output_;
  std::unique_ptr<cosim::Program> program_;
  KernelLog log_;
  std::deque<std::string> consoleLines_;
  std::string consoleRest_, statusRest_, panic_;
  std::vector<std::string> troubles_;
  bool isReady_ = false, isRunning_ = false, isListening_ = false, hasHalted_ = false;
  bool hasSpoken_ = false;
  bool takesKeys_ = false;
  std::string keys_;  // typed before that
  std::optional<int> exitStatus_;
  Clock::time_point lastWord_ = Clock::now();
};

}  // namespace hca::vm

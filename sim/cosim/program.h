// A program that a co-simulation started.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hca::cosim {

struct ProgramStart {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to ours
  bool endsWithLauncher = false;  ///< it is killed when this process dies, however that happens
  int output = -1;                ///< descriptor for its standard output and error; -1: ours
};

class Program {
 public:
  /// Throws std::runtime_error if there is no such program, or if it can't be co-simulated.
  explicit Program(const ProgramStart& start);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] pid_t process() const { return process_; }
  /// Its exit status, as a shell reports it (128 + signal); nothing while it runs.
  [[nodiscard]] std::optional<int> poll();
  /// Waits until it has ended; false if a signal came first.
  bool waitInterruptibly();
  void signal(int number) const;

 private:
  pid_t process_ = -1;
  std::optional<int> status_;
};

}  // namespace hca::cosim

// Where programs report to a shared simulation.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "verbs_shim/channel/shared_memory.h"

namespace hca::cosim {

/// A program that asks to be let in. The connection is its life: when it ends, so did the program.
struct Applicant {
  int connection = -1;
  pid_t process = 0;
  channel::Hello hello{};
};

/// A Unix socket that only this user can reach; peers are checked by the credentials that the kernel vouches for.
class ProgramListener {
 public:
  /// Throws std::runtime_error if there can't be one at `path`.
  explicit ProgramListener(std::string path);
  ~ProgramListener();
  ProgramListener(const ProgramListener&) = delete;
  ProgramListener& operator=(const ProgramListener&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// A program that connected and said its hello, if any; who may not come in, or says nothing for a second, is turned
  /// away without a word.
  [[nodiscard]] std::optional<Applicant> accept();
  /// Answers with the two areas of the channel.
  static bool admit(const Applicant& applicant, int area, int doorbell);
  static void refuse(const Applicant& applicant);

  /// For a connection that a child is to inherit: lets its process make itself known, as the kernel vouches for it.
  static void expectChild(int connection);
  /// Its number; 0 as long as it isn't there, -1 if it never will be, or is another user's.
  [[nodiscard]] static pid_t findChild(int connection);

 private:
  struct Stranger {
    int connection;
    pid_t process;
    std::chrono::steady_clock::time_point since;
  };
  void letStrangersIn();

  std::string path_;
  int socket_;
  std::vector<Stranger> strangers_;  // connected, but without a hello
};

/// Whether the other end is gone.
[[nodiscard]] bool hasHungUp(int connection);

}  // namespace hca::cosim

// What a program's thread does when it doesn't call.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

namespace hca::cosim {

/// Looks at a thread of this or another process from outside.
class ThreadProbe {
 public:
  ThreadProbe(pid_t process, pid_t thread);

  /// Processor time of its process so far; never less than its own.
  [[nodiscard]] std::chrono::nanoseconds processorTime() const;
  /// Whether it sleeps in a system call, is stopped, or has ended.
  [[nodiscard]] bool isAsleep() const;
  /// Sends it a signal.
  void interrupt(int signal) const;

 private:
  pid_t process_;
  pid_t thread_;
  clockid_t clock_ = 0;
  bool hasClock_ = false;
  std::string stat_;  // path
};

}  // namespace hca::cosim

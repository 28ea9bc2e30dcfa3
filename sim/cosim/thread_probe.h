// What a program's thread does when it doesn't call.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace hca::cosim {

/// Looks at a thread of this or another process from outside.
class ThreadProbe {
 public:
  /// Of no thread.
  ThreadProbe() = default;
  ThreadProbe(pid_t process, pid_t thread);
  ~ThreadProbe();
  ThreadProbe(ThreadProbe&& other) noexcept;
  ThreadProbe(const ThreadProbe&) = delete;
  ThreadProbe& operator=(ThreadProbe&& other) noexcept;
  ThreadProbe& operator=(const ThreadProbe&) = delete;

  [[nodiscard]] bool exists() const { return stat_ >= 0; }
  /// The kernel's number.
  [[nodiscard]] pid_t number() const { return thread_; }
  /// Processor time of its process so far; never less than its own.
  [[nodiscard]] std::chrono::nanoseconds processorTime() const;
  /// Whether it sleeps in a system call, is stopped, or has ended.
  [[nodiscard]] bool isAsleep() const;
  /// Sends it a signal.
  void interrupt(int signal) const;

 private:
  pid_t process_ = 0;
  pid_t thread_ = 0;
  clockid_t clock_ = 0;
  bool hasClock_ = false;
  int stat_ = -1;  // the kernel's word on the thread
};

}  // namespace hca::cosim

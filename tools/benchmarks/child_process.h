// Runs a function in a process of its own: SystemC elaborates once a process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <type_traits>

namespace hca::bench {

/// The trivially copyable value that `function` returns, computed in a forked child.
template <class Function>
auto inChild(Function&& function) {
  using Value = decltype(function());
  static_assert(std::is_trivially_copyable_v<Value>);
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe to a child process");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) {
    const Value value = function();
    const bool written = write(ends[1], &value, sizeof value) == static_cast<ssize_t>(sizeof value);
    _exit(written ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  close(ends[1]);
  Value value;
  const bool whole = read(ends[0], &value, sizeof value) == static_cast<ssize_t>(sizeof value);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!whole || status != 0) throw std::runtime_error("the child process failed");
  return value;
}

}  // namespace hca::bench

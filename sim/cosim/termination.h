// What the user does to end a co-simulation.
#pragma once

namespace hca::cosim {

/// Notes the signals that ask a program to end, as long as it lives: one a process.
class Termination {
 public:
  Termination();
  ~Termination();
  Termination(const Termination&) = delete;
  Termination& operator=(const Termination&) = delete;

  /// The signal that came, 0 if none did.
  [[nodiscard]] static int signal();
};

}  // namespace hca::cosim

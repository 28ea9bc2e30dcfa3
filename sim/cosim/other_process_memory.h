// A program in another process.
#pragma once

#include <sys/types.h>

#include "sim/cosim/program_memory.h"

namespace hca::cosim {

/// Needs no help of the program, but the kernel's leave to look into it (the same user; see ptrace(2)).
class OtherProcessMemory final : public ProgramMemory {
 public:
  explicit OtherProcessMemory(pid_t process) : process_(process) {}

  bool copyIn(std::uint64_t address, MutableByteView into) override;
  bool copyOut(std::uint64_t address, ByteView bytes) override;

 private:
  pid_t process_;
};

}  // namespace hca::cosim

// A program in whose process the simulation runs.
#pragma once

#include <cstddef>

#include "sim/cosim/program_memory.h"

namespace hca::cosim {

/// Memory that isn't there (any more) fails the access instead of the process: `copy` catches the fault.
class SameProcessMemory final : public ProgramMemory {
 public:
  using Copy = int (*)(void* to, const void* from, std::size_t length);
  explicit SameProcessMemory(Copy copy) : copy_(copy) {}

  bool copyIn(std::uint64_t address, MutableByteView into) override;
  bool copyOut(std::uint64_t address, ByteView bytes) override;

 private:
  Copy copy_;
};

}  // namespace hca::cosim

// A program in another process.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <vector>

#include "sim/cosim/program_memory.h"

namespace hca::cosim {

/// Needs no help of the program, but the kernel's leave to look into it (the same user; see ptrace(2)).
///
/// A system call for each packet would cost more than all the rest of the simulation. So within a slice of
/// time writes are done together at its end, in their order, and reads of consecutive addresses ahead if the program
/// doesn't run meanwhile.
class OtherProcessMemory final : public ProgramMemory {
 public:
  explicit OtherProcessMemory(pid_t process);
  ~OtherProcessMemory() override;
  OtherProcessMemory(const OtherProcessMemory&) = delete;
  OtherProcessMemory& operator=(const OtherProcessMemory&) = delete;

  bool copyIn(std::uint64_t address, MutableByteView into) override;
  bool copyOut(std::uint64_t address, ByteView bytes) override;
  void beginSlice(bool isQuiet) override {
    isQuiet_ = isQuiet;
    isInSlice_ = true;
    isLookedAt_ = false;
  }
  void endSlice() override;
  void end() override;

 private:
  [[nodiscard]] bool isThere();
  [[nodiscard]] bool readNow(std::uint64_t address, MutableByteView into) const;
  void append(std::uint64_t address, std::size_t length, bool isApart);
  bool flush();

  pid_t process_;
  int handle_;  // of the process itself, whoever has its number later; -1 where the kernel has no such thing
  bool isGone_ = false;
  bool isLookedAt_ = false;  // in this slice
  bool isInSlice_ = false;
  bool isQuiet_ = false;  // nobody but the simulation changes the program's memory

  std::vector<std::uint8_t> ahead_;  // what was read ahead, from `aheadFrom_` on
  std::uint64_t aheadFrom_ = 0;
  std::uint64_t readEnd_ = 0;  // where the last read ended

  std::vector<std::uint8_t> written_;
  std::vector<iovec> pieces_;  // where it belongs
};

}  // namespace hca::cosim

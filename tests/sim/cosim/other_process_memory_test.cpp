#include "sim/cosim/other_process_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

namespace hca::cosim {
namespace {

volatile std::uint64_t word = 0;  // NOLINT: of each process its own

// A process with its own value of `word`.
pid_t startChild(std::uint64_t value) {
  const pid_t child = fork();
  if (child != 0) return child;
  word = value;
  kill(getpid(), SIGSTOP);
  _exit(0);
}

void awaitStop(pid_t child) {
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
}

void end(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

std::uint64_t address() { return reinterpret_cast<std::uint64_t>(&word); }  // NOLINT: the child has it, too

TEST(OtherProcessMemory, ReachesAProcessUntilItEnds) {
  const pid_t child = startChild(7);
  awaitStop(child);
  OtherProcessMemory memory(child);
  std::uint64_t seen = 0;
  const MutableByteView bytes{reinterpret_cast<std::uint8_t*>(&seen), sizeof seen};  // NOLINT: its bytes
  EXPECT_TRUE(memory.copyIn(address(), bytes));
  EXPECT_EQ(seen, 7U);
  end(child);
  EXPECT_FALSE(memory.copyIn(address(), bytes));
  EXPECT_FALSE(memory.copyOut(address(), {bytes.data(), bytes.size()}));
}

// Another process that got the number of one that ended is left alone.
TEST(OtherProcessMemory, DoesNotTakeALaterProcessForIt) {
  const pid_t first = startChild(7);
  awaitStop(first);
  OtherProcessMemory memory(first);
  end(first);
  // The kernel lets who may choose the next process's number.
  std::ofstream next("/proc/sys/kernel/ns_last_pid");
  next << first - 1 << std::flush;
  const pid_t second = startChild(9);
  awaitStop(second);
  const bool isReused = second == first;
  std::uint64_t seen = 0;
  memory.beginSlice(false);
  const bool reached = memory.copyIn(address(), {reinterpret_cast<std::uint8_t*>(&seen), sizeof seen});  // NOLINT
  memory.endSlice();
  end(second);
  if (!isReused) GTEST_SKIP() << "numbers of processes can't be chosen here";
  EXPECT_FALSE(reached) << "read " << seen;
}

}  // namespace
}  // namespace hca::cosim

#include "sim/cosim/thread_probe.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <string>
#include <utility>

namespace hca::cosim {
namespace {

// The kernel tells the processor time of a thread to its own process alone; to others, that of the whole process.
bool findClock(pid_t process, pid_t thread, clockid_t& clock) {
  // include/linux/posix-timers_types.h: the inverted number, a thread's, scheduler's time.
  constexpr clockid_t kPerThread = 4, kSchedulerTime = 2;
  constexpr int kShift = 3;
  if (process != getpid()) return clock_getcpuclockid(process, &clock) == 0;
  clock = static_cast<clockid_t>(~static_cast<unsigned>(thread) << kShift) | kPerThread | kSchedulerTime;
  return true;
}

}  // namespace

ThreadProbe::ThreadProbe(pid_t process, pid_t thread)
    : process_(process),
      thread_(thread),
      hasClock_(findClock(process, thread, clock_)),
      stat_(::open(("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/stat").c_str(),
                   O_RDONLY | O_CLOEXEC)) {}

ThreadProbe::~ThreadProbe() {
  if (stat_ >= 0) ::close(stat_);
}

ThreadProbe::ThreadProbe(ThreadProbe&& other) noexcept
    : process_(other.process_),
      thread_(other.thread_),
      clock_(other.clock_),
      hasClock_(other.hasClock_),
      stat_(std::exchange(other.stat_, -1)) {}

ThreadProbe& ThreadProbe::operator=(ThreadProbe&& other) noexcept {
  process_ = other.process_;
  thread_ = other.thread_;
  clock_ = other.clock_;
  hasClock_ = other.hasClock_;
  std::swap(stat_, other.stat_);
  return *this;
}

std::chrono::nanoseconds ThreadProbe::processorTime() const {
  timespec time{};
  if (!hasClock_ || clock_gettime(clock_, &time) != 0) return std::chrono::nanoseconds::max();
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void ThreadProbe::interrupt(int signal) const { syscall(SYS_tgkill, process_, thread_, signal); }

bool ThreadProbe::isAsleep() const {
  char text[512];
  const ssize_t length = ::pread(stat_, text, sizeof text - 1, 0);
  if (length <= 0) return true;
  text[length] = '\0';
  // The name of the program, in parentheses, may hold anything.
  const char* end = strrchr(text, ')');
  // D: waits for a page of its own memory, say, and goes on soon.
  return end == nullptr || end[1] == '\0' || strchr("RD", end[2]) == nullptr;
}

}  // namespace hca::cosim

#include "verbs_shim/virtual_timers.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "verbs_shim/channel_client.h"
#include "verbs_shim/real_calls.h"
#include "verbs_shim/virtual_time.h"

HCASIM_REAL(timerfd_settime);
HCASIM_REAL(timer_settime);

namespace hca::shim {
namespace {

// A handful: programs have one for each purpose.
constexpr int kMost = 64;
struct TimerFile {
  int fd;
  VirtualTimer timer;
};
TimerFile files[kMost];
struct ProcessTimer {
  bool isTaken;
  bool isWall;
  timer_t id;
  VirtualTimer timer;
};
ProcessTimer processTimers[kMost];
VirtualTimer alarmTimer{};
int active = 0;  // timers that are set; looked at without the lock
pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

// No handler of the program runs meanwhile, which could want the same.
class Guard {
 public:
  Guard() { pthread_mutex_lock(&changing); }
  ~Guard() { pthread_mutex_unlock(&changing); }

 private:
  Undisturbed undisturbed_;
};

VirtualTimer replace(VirtualTimer& kept, const VirtualTimer& timer) {
  const VirtualTimer before = kept;
  kept = timer;
  const int change = (timer.expiry != 0 ? 1 : 0) - (before.expiry != 0 ? 1 : 0);
  __atomic_add_fetch(&active, change, __ATOMIC_RELAXED);
  return before;
}

// True if it ran out.
bool expire(VirtualTimer& kept, int64_t nanoseconds) {
  if (kept.expiry == 0 || kept.expiry > nanoseconds) return false;
  const int64_t passed = nanoseconds - kept.expiry;
  const int64_t next = kept.interval == 0 ? 0 : kept.expiry + (passed / kept.interval + 1) * kept.interval;
  replace(kept, {next, kept.interval});
  return true;
}

// Entries of closed descriptors are used again.
TimerFile* find(int fd, bool mayTake) {
  TimerFile* free = nullptr;
  for (TimerFile& file : files) {
    if (file.fd == fd + 1) return &file;
    if (free == nullptr && file.timer.expiry == 0) free = &file;
  }
  if (!mayTake || free == nullptr) return nullptr;
  free->fd = fd + 1;
  free->timer = {};
  return free;
}

ProcessTimer* findTimer(timer_t id) {
  for (ProcessTimer& each : processTimers) {
    if (each.isTaken && each.id == id) return &each;
  }
  return nullptr;
}

// The kernel's own timers tell of it, at once: with all that belongs to it.
constexpr itimerspec kAtOnce{{0, 0}, {0, 1}};
void letRunOut() {
  // They have run out by the next look.
  const timespec moment{0, 1000};
  syscall(SYS_nanosleep, &moment, nullptr);
}

}  // namespace

VirtualTimer setAlarm(const VirtualTimer& timer) {
  const Guard guard;
  return replace(alarmTimer, timer);
}
VirtualTimer currentAlarm() {
  const Guard guard;
  return alarmTimer;
}

void expireSignals(uint64_t picoseconds) {
  if (!hasTimers()) return;
  const auto present = static_cast<int64_t>(virtualTimeOf(picoseconds) / 1000);
  bool isOver = false;
  {
    const Guard guard;
    isOver = expire(alarmTimer, present);
    for (ProcessTimer& each : processTimers) {
      if (!each.isTaken || !expire(each.timer, present)) continue;
      timer_settimeReal(each.id, 0, &kAtOnce, nullptr);
      letRunOut();
    }
  }
  if (isOver) kill(getpid(), SIGALRM);
}

bool addTimer(timer_t id, bool isWall) {
  const Guard guard;
  for (ProcessTimer& each : processTimers) {
    if (each.isTaken) continue;
    each = {true, isWall, id, {}};
    return true;
  }
  return false;
}
void removeTimer(timer_t id) {
  const Guard guard;
  ProcessTimer* timer = findTimer(id);
  if (timer == nullptr) return;
  replace(timer->timer, {});
  timer->isTaken = false;
}
TimerClock clockOf(timer_t id) {
  const Guard guard;
  const ProcessTimer* timer = findTimer(id);
  if (timer == nullptr) return TimerClock::kReal;
  return timer->isWall ? TimerClock::kWall : TimerClock::kUptime;
}
VirtualTimer setProcessTimer(timer_t id, const VirtualTimer& timer) {
  const Guard guard;
  ProcessTimer* kept = findTimer(id);
  return kept == nullptr ? VirtualTimer{} : replace(kept->timer, timer);
}
VirtualTimer processTimer(timer_t id) {
  const Guard guard;
  const ProcessTimer* kept = findTimer(id);
  return kept == nullptr ? VirtualTimer{} : kept->timer;
}

VirtualTimer setTimerFile(int fd, const VirtualTimer& timer) {
  const Guard guard;
  TimerFile* file = find(fd, true);
  return file == nullptr ? VirtualTimer{} : replace(file->timer, timer);
}
VirtualTimer timerFile(int fd) {
  const Guard guard;
  const TimerFile* file = find(fd, false);
  return file == nullptr ? VirtualTimer{} : file->timer;
}

void expireTimerFiles(int64_t nanoseconds) {
  const Guard guard;
  for (TimerFile& file : files) {
    if (!expire(file.timer, nanoseconds)) continue;
    timerfd_settimeReal(file.fd - 1, 0, &kAtOnce, nullptr);
    letRunOut();
  }
}

void forgetSignalTimers() {
  pthread_mutex_init(&changing, nullptr);
  alarmTimer = {};
  memset(processTimers, 0, sizeof processTimers);
  active = 0;
  for (const TimerFile& file : files) active += file.timer.expiry != 0 ? 1 : 0;
}

bool hasTimers() { return __atomic_load_n(&active, __ATOMIC_RELAXED) != 0; }

int64_t untilNextTimer(int64_t now, int64_t nanoseconds) {
  const Guard guard;
  int64_t least = nanoseconds < 0 ? INT64_MAX : nanoseconds;
  const auto consider = [&](const VirtualTimer& timer) {
    if (timer.expiry == 0) return;
    const int64_t left = timer.expiry > now ? timer.expiry - now : 1;
    if (left < least) least = left;
  };
  consider(alarmTimer);
  for (const TimerFile& file : files) consider(file.timer);
  for (const ProcessTimer& each : processTimers) consider(each.timer);
  return least == INT64_MAX ? nanoseconds : least;
}

}  // namespace hca::shim

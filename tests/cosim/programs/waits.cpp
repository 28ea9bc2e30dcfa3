// Waits of all kinds, which in simulated time take as long as they say and next to no real time; and one without end.
//
// usage: waits limited | forever
//
// limited: each wait lasts 10 s of the program's own clock, give or take 10 ms. forever: waits for an event of an armed
// completion queue that nobody ever sends anything to.
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>

namespace {

constexpr double kSpan = 10;
constexpr double kTolerance = 0.01;

void need(bool fine, const char* what) {
  if (fine) return;
  std::fprintf(stderr, "waits: %s (errno %d)\n", what, errno);
  std::exit(1);
}

double now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

timespec inSpan(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  time.tv_sec += static_cast<time_t>(kSpan);
  return time;
}

void lasts(const char* what, const std::function<bool()>& wait) {
  const double start = now();
  need(wait(), what);
  const double passed = now() - start;
  std::printf("%s: %.4f s\n", what, passed);
  need(passed > kSpan - kTolerance && passed < kSpan + kTolerance, what);
}

int alarms = 0;
void onAlarm(int) { ++alarms; }

void limitedWaits(ibv_comp_channel* channel) {
  constexpr int kMilliseconds = static_cast<int>(kSpan) * 1000;
  pollfd ours{channel->fd, POLLIN, 0};
  int pipes[2];
  need(pipe(pipes) == 0, "pipe");
  pollfd foreign[2] = {{pipes[0], POLLIN, 0}, {channel->fd, POLLIN, 0}};
  lasts("nanosleep", [] { return sleep(static_cast<unsigned>(kSpan)) == 0; });
  lasts("usleep", [] { return usleep(static_cast<useconds_t>(kSpan * 1e6)) == 0; });
  lasts("clock_nanosleep", [] {
    const timespec end = inSpan(CLOCK_REALTIME);
    return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &end, nullptr) == 0;
  });
  lasts("poll", [&] { return poll(&ours, 1, kMilliseconds) == 0; });
  lasts("poll of a pipe too", [&] { return poll(foreign, 2, kMilliseconds) == 0; });
  lasts("select", [&] {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(channel->fd, &set);
    timeval limit{static_cast<time_t>(kSpan), 0};
    return select(channel->fd + 1, &set, nullptr, nullptr, &limit) == 0;
  });
  lasts("epoll_wait", [&] {
    const int epoll = epoll_create1(0);
    epoll_event event{};
    epoll_ctl(epoll, EPOLL_CTL_ADD, channel->fd, &event);
    return epoll_wait(epoll, &event, 1, kMilliseconds) == 0 && close(epoll) == 0;
  });
  lasts("sem_timedwait", [] {
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    const timespec end = inSpan(CLOCK_REALTIME);
    return sem_timedwait(&semaphore, &end) != 0 && errno == ETIMEDOUT;
  });
  lasts("pthread_cond_timedwait", [] {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    const timespec end = inSpan(CLOCK_REALTIME);
    int error = 0;
    while (error == 0) error = pthread_cond_timedwait(&condition, &mutex, &end);
    return error == ETIMEDOUT;
  });
  lasts("timerfd", [] {
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    const itimerspec wanted{{0, 0}, {static_cast<time_t>(kSpan), 0}};
    std::uint64_t times = 0;
    return timerfd_settime(timer, 0, &wanted, nullptr) == 0 && read(timer, &times, sizeof times) == sizeof times &&
           times == 1 && close(timer) == 0;
  });
  std::signal(SIGALRM, onAlarm);
  lasts("alarm", [&] {
    alarm(static_cast<unsigned>(kSpan));
    return poll(&ours, 1, 10 * kMilliseconds) < 0 && errno == EINTR && alarms == 1;
  });
  lasts("setitimer", [] {
    const itimerval wanted{{0, 0}, {static_cast<time_t>(kSpan), 0}};
    return setitimer(ITIMER_REAL, &wanted, nullptr) == 0 && sleep(100) != 0 && alarms == 2;
  });
}

// The program's own timers: each way in which one tells of its end, and what is left of it.
sem_t ran;
void onTimer(int, siginfo_t* info, void*) {
  if (info->si_code == SI_TIMER && info->si_value.sival_int == 7) sem_post(&ran);
}
void timers() {
  sem_init(&ran, 0, 0);
  struct sigaction action {};
  action.sa_sigaction = onTimer;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGRTMIN, &action, nullptr);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGRTMIN;
  event.sigev_value.sival_int = 7;
  timer_t timer{};
  const itimerspec once{{0, 0}, {static_cast<time_t>(kSpan), 0}};
  need(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
  lasts("timer_settime", [&] { return timer_settime(timer, 0, &once, nullptr) == 0 && sem_wait(&ran) == 0; });
  lasts("timer_settime, absolute", [&] {
    const itimerspec at{{0, 0}, inSpan(CLOCK_MONOTONIC)};
    return timer_settime(timer, TIMER_ABSTIME, &at, nullptr) == 0 && sem_wait(&ran) == 0;
  });
  lasts("timer_settime, again and again", [&] {
    constexpr int kTimes = 10;
    const itimerspec often{{static_cast<time_t>(kSpan) / kTimes, 0}, {static_cast<time_t>(kSpan) / kTimes, 0}};
    if (timer_settime(timer, 0, &often, nullptr) != 0) return false;
    for (int i = 0; i < kTimes; ++i) {
      if (sem_wait(&ran) != 0) return false;
    }
    itimerspec left{};
    const itimerspec none{};
    return timer_gettime(timer, &left) == 0 && left.it_value.tv_sec + left.it_value.tv_nsec != 0 &&
           timer_settime(timer, 0, &none, &left) == 0 && left.it_interval.tv_sec == 1;
  });
  need(timer_delete(timer) == 0, "timer_delete");
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = [](sigval) { sem_post(&ran); };
  need(timer_create(CLOCK_REALTIME, &event, &timer) == 0, "timer_create for a thread");
  lasts("timer_settime with a thread", [&] {
    return timer_settime(timer, 0, &once, nullptr) == 0 && sleep(static_cast<unsigned>(kSpan)) == 0 &&
           sem_wait(&ran) == 0;
  });
}

}  // namespace

int main(int argc, char** argv) {
  ibv_device** list = ibv_get_device_list(nullptr);
  need(list != nullptr && list[0] != nullptr, "no device");
  ibv_context* context = ibv_open_device(list[0]);
  need(context != nullptr, "the device can't be opened");
  ibv_comp_channel* channel = ibv_create_comp_channel(context);
  ibv_cq* cq = ibv_create_cq(context, 16, nullptr, channel, 0);
  need(cq != nullptr, "no completion queue");
  if (argc > 1 && std::strcmp(argv[1], "forever") == 0) {
    need(ibv_req_notify_cq(cq, 0) == 0, "not armed");
    void* unused = nullptr;
    ibv_get_cq_event(channel, &cq, &unused);
    return 1;
  }
  limitedWaits(channel);
  timers();
  return 0;
}

// Threads that wait for each other between verbs, in every way that the C library has. What they do, in which order and
// at which simulated time, is to be the same each time.
//
// usage: crew mutex | contended | condition | std_condition | semaphore | barrier | rwlock | spin | yield | futex |
//   future | join | cancel | signal | stuck | stuck_lock |
//   race | safe
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/cosim/programs/self_connection.h"

using hcasim_test::need;
using hcasim_test::SelfConnection;

namespace {

constexpr int kRounds = 30;
constexpr int kThreads = 3;

/// Each thread has a queue pair of its own; what they do is noted in the order in which it happens.
struct Crew {
  SelfConnection connections[kThreads];
  std::string order;
  Crew() {
    for (SelfConnection& each : connections) {
      each.context = connections[0].context;
      each.open();
    }
  }
  void note(int who) { order += static_cast<char>('a' + who); }
  template <class Work>
  void run(Work work) {
    std::vector<std::thread> threads;
    for (int who = 1; who < kThreads; ++who) threads.emplace_back([&work, who] { work(who); });
    work(0);
    for (std::thread& thread : threads) thread.join();
    std::printf("%s\n", order.c_str());
  }
};

void locks(bool isHeldLong) {
  Crew crew;
  std::mutex mutex;
  crew.run([&](int who) {
    for (int i = 0; i < kRounds; ++i) {
      for (int j = 0; j < who; ++j) crew.connections[who].round();
      const std::lock_guard<std::mutex> guard(mutex);
      crew.note(who);
      if (isHeldLong) crew.connections[who].round();
    }
  });
  need(crew.order.size() == kThreads * kRounds, "somebody is missing");
  // Who gives a lock away and takes it again doesn't keep the others out.
  if (isHeldLong) need(crew.order.find("aaaaa") > 2 * kRounds, "one thread had the lock all the time");
}

// The first thread hands out tickets, the others take them.
template <class Wait, class Wake>
void tickets(Wait wait, Wake wake) {
  Crew crew;
  std::atomic<int> taken{0};
  crew.run([&](int who) {
    for (int i = 0; i < kRounds; ++i) {
      if (who == 0) {
        crew.connections[0].round();
        for (int j = 1; j < kThreads; ++j) wake();
        continue;
      }
      wait();
      ++taken;
      crew.note(who);
      crew.connections[who].round();
    }
  });
  need(taken == (kThreads - 1) * kRounds, "tickets are lost");
}

void condition() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  int count = 0;
  tickets(
      [&] {
        pthread_mutex_lock(&mutex);
        while (count == 0) pthread_cond_wait(&changed, &mutex);
        --count;
        pthread_mutex_unlock(&mutex);
      },
      [&] {
        pthread_mutex_lock(&mutex);
        ++count;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
      });
}

void stdCondition() {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
  tickets(
      [&] {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return count != 0; });
        --count;
      },
      [&] {
        const std::lock_guard<std::mutex> guard(mutex);
        ++count;
        changed.notify_all();
      });
}

void semaphore() {
  sem_t free;
  need(sem_init(&free, 0, 0) == 0, "no semaphore");
  tickets([&] { need(sem_wait(&free) == 0, "sem_wait"); }, [&] { need(sem_post(&free) == 0, "sem_post"); });
}

int futex(std::atomic<int>& word, int operation, int value) {
  return static_cast<int>(
      syscall(SYS_futex, reinterpret_cast<int*>(&word), operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0));
}

void rawFutex() {
  std::atomic<int> count{0};
  tickets(
      [&] {
        for (int seen = count; seen == 0 || !count.compare_exchange_strong(seen, seen - 1); seen = count) {
          if (seen == 0) futex(count, FUTEX_WAIT, 0);
        }
      },
      [&] {
        ++count;
        futex(count, FUTEX_WAKE, 1);
      });
}

void barrier() {
  Crew crew;
  pthread_barrier_t barrier;
  need(pthread_barrier_init(&barrier, nullptr, kThreads) == 0, "no barrier");
  std::atomic<int> serial{0};
  crew.run([&](int who) {
    for (int i = 0; i < kRounds; ++i) {
      for (int j = 0; j <= who; ++j) crew.connections[who].round();
      crew.note(who);
      if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) ++serial;
    }
  });
  need(serial == kRounds, "not one serial thread a round");
  for (std::size_t i = 0; i < crew.order.size(); i += kThreads) {
    const std::string round = crew.order.substr(i, kThreads);
    for (char who : {'a', 'b', 'c'}) need(round.find(who) != std::string::npos, "one passed the barrier twice");
  }
  need(pthread_barrier_destroy(&barrier) == 0, "the barrier stays");
}

void rwlock() {
  Crew crew;
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  crew.run([&](int who) {
    for (int i = 0; i < kRounds; ++i) {
      need((who == 0 ? pthread_rwlock_wrlock(&lock) : pthread_rwlock_rdlock(&lock)) == 0, "no lock");
      crew.connections[who].round();
      crew.note(who);
      pthread_rwlock_unlock(&lock);
    }
  });
}

// All use one queue pair: libmlx5 takes its own locks, which spin.
void spin() {
  Crew crew;
  SelfConnection& shared = crew.connections[0];
  std::atomic<int> done{0};
  crew.run([&](int who) {
    for (int i = 0; i < kRounds; ++i) {
      shared.post();
      crew.note(who);
      need(shared.poll() == IBV_WC_SUCCESS, "a completion with an error");
      ++done;
    }
  });
  need(done == kThreads * kRounds, "completions are lost");
}

void yield() {
  std::atomic<int> count{0};
  tickets(
      [&] {
        for (int seen = count; seen == 0 || !count.compare_exchange_strong(seen, seen - 1); seen = count) sched_yield();
      },
      [&] { ++count; });
}

void future() {
  Crew crew;
  crew.run([&](int who) {
    if (who != 0) return;
    for (int i = 0; i < kRounds; ++i) {
      std::future<int> result = std::async(std::launch::async, [&] {
        crew.connections[1].round();
        crew.note(1);
        return 1;
      });
      crew.connections[0].round();
      crew.note(0);
      need(result.get() == 1, "another result");
    }
  });
}

void join() {
  Crew crew;
  crew.run([&](int who) {
    for (int i = 0; i < kRounds; ++i) {
      std::thread helper([&] { crew.connections[who].round(); });
      helper.join();
      crew.note(who);
    }
  });
}

// A thread that waits for another one can be cancelled, and gets the lock back first.
pthread_mutex_t cancelMutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
sem_t neverPosted;
void* waitInCondition(void*) {
  pthread_mutex_lock(&cancelMutex);
  pthread_cleanup_push([](void*) { pthread_mutex_unlock(&cancelMutex); }, nullptr);
  for (;;) pthread_cond_wait(&never, &cancelMutex);
  pthread_cleanup_pop(1);
  return nullptr;
}
void* waitForSemaphore(void*) {
  for (;;) sem_wait(&neverPosted);
  return nullptr;
}
void cancel() {
  Crew crew;
  sem_init(&neverPosted, 0, 0);
  for (auto* routine : {waitInCondition, waitForSemaphore}) {
    pthread_t thread;
    need(pthread_create(&thread, nullptr, routine, nullptr) == 0, "no thread");
    crew.connections[0].round();
    need(pthread_cancel(thread) == 0, "not cancelled");
    void* result = nullptr;
    need(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED, "it ended in another way");
  }
  need(pthread_mutex_trylock(&cancelMutex) == 0, "the lock is still held");
}

// A handler ends a wait for a semaphore; its own sem_post does, too.
sem_t posted;
void onPost(int) { sem_post(&posted); }
void onNothing(int) {}
void signals() {
  SelfConnection connection;
  connection.open();
  sem_init(&posted, 0, 0);
  struct sigaction action {};
  action.sa_handler = onNothing;
  sigaction(SIGUSR1, &action, nullptr);
  std::signal(SIGUSR2, onPost);
  const pthread_t main = pthread_self();
  for (const int number : {SIGUSR1, SIGUSR2}) {
    std::thread other([&] {
      usleep(20000);
      pthread_kill(main, number);
    });
    errno = 0;
    const int result = sem_wait(&posted);
    need(number == SIGUSR2 ? result == 0 : result < 0 && errno == EINTR, "the wait ended in another way");
    other.join();
  }
}

// The order of the race: the entry is there before the arm, and nobody looks again. `isSafe`: but this one does.
void race(bool isSafe) {
  SelfConnection connection;
  connection.open();
  connection.post();
  usleep(1000);
  need(ibv_req_notify_cq(connection.cq, 0) == 0, "not armed");
  if (isSafe) need(connection.poll() == IBV_WC_SUCCESS, "a completion with an error");
  // The safe order finds the event of its next request in any case.
  if (isSafe) connection.post();
  ibv_cq* cq = nullptr;
  void* unused = nullptr;
  need(ibv_get_cq_event(connection.channel, &cq, &unused) == 0, "no event");
  ibv_ack_cq_events(cq, 1);
  need(connection.poll() == IBV_WC_SUCCESS, "a completion with an error");
}

// Each waits for the other: nobody ever goes on.
void stuck(bool inLock) {
  Crew crew;
  std::mutex mutex;
  sem_t free;
  sem_init(&free, 0, 0);
  std::thread other([&] {
    if (inLock) mutex.lock();
    sem_wait(&free);
  });
  crew.connections[0].round();
  if (inLock) mutex.lock();
  other.join();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  if (way == "mutex") locks(false);
  if (way == "contended") locks(true);
  if (way == "condition") condition();
  if (way == "std_condition") stdCondition();
  if (way == "semaphore") semaphore();
  if (way == "barrier") barrier();
  if (way == "rwlock") rwlock();
  if (way == "spin") spin();
  if (way == "yield") yield();
  if (way == "futex") rawFutex();
  if (way == "future") future();
  if (way == "join") join();
  if (way == "cancel") cancel();
  if (way == "signal") signals();
  if (way == "race" || way == "safe") race(way == "safe");
  if (way == "stuck" || way == "stuck_lock") stuck(way == "stuck_lock");
  std::printf("crew: %s\n", way.c_str());
  return 0;
}

// Programs that do what a preload library must live with.
//
// usage: manners segv | fork | dlopen | threads | unmap | free | crash | leave | many_threads
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstring>

#include "tests/cosim/programs/self_connection.h"

using hcasim_test::need;
using hcasim_test::SelfConnection;

namespace {

constexpr std::size_t kPage = 4096;

std::jmp_buf beforeFault;
void onFault(int, siginfo_t*, void*) { longjmp(beforeFault, 1); }

// Its own handler catches its own faults, and not those of the device's registers.
void ownFaults() {
  SelfConnection connection;
  connection.open();
  struct sigaction action {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  need(sigaction(SIGSEGV, &action, nullptr) == 0, "no handler");
  void* page = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  volatile int caught = 0;
  for (int i = 0; i < 10; ++i) {
    connection.round();
    if (setjmp(beforeFault) == 0) {
      *static_cast<volatile char*>(page) = 1;
    } else {
      caught = caught + 1;
    }
  }
  need(caught == 10, "not every fault was caught");
  struct sigaction now {};
  need(sigaction(SIGSEGV, nullptr, &now) == 0 && now.sa_sigaction == onFault, "another handler is there");
}

// The child computes and ends; the parent goes on with its device.
void forkWhileOpen() {
  SelfConnection connection;
  connection.open();
  connection.round();
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(40 + i);
    connection.round();
    int status = 0;
    need(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 40 + i, "the child ended in another way");
  }
}

// Loads the library as an interpreter does.
void load() {
  void* verbs = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  need(verbs != nullptr, "no library");
  const auto list = reinterpret_cast<ibv_device** (*)(int*)>(dlsym(verbs, "ibv_get_device_list"));
  const auto open = reinterpret_cast<ibv_context* (*)(ibv_device*)>(dlsym(verbs, "ibv_open_device"));
  need(list != nullptr && open != nullptr, "no functions");
  int count = 0;
  ibv_device** devices = list(&count);
  need(devices != nullptr && count == 1 && open(devices[0]) != nullptr, "the device can't be opened");
}

constexpr int kRounds = 40;
void* eventRounds(void* opaque) {
  auto& connection = *static_cast<SelfConnection*>(opaque);
  for (int i = 0; i < kRounds; ++i) {
    connection.post();
    need(connection.waitAndPoll() == IBV_WC_SUCCESS, "a completion with an error");
  }
  return nullptr;
}

// Two threads that wait in calls of the library alone: one for events, one in polls.
void twoThreads() {
  SelfConnection first, second;
  first.open();
  second.context = first.context;
  second.open();
  pthread_t thread;
  need(pthread_create(&thread, nullptr, eventRounds, &first) == 0, "no thread");
  for (int i = 0; i < kRounds; ++i) second.round();
  need(pthread_join(thread, nullptr) == 0, "no join");
}

void* oneRound(void* opaque) {
  static_cast<SelfConnection*>(opaque)->round();
  return nullptr;
}
// More threads one after the other than a process may have at a time.
void manyThreads() {
  SelfConnection connection;
  connection.open();
  for (int i = 0; i < 1500; ++i) {
    pthread_t thread;
    need(pthread_create(&thread, nullptr, oneRound, &connection) == 0 && pthread_join(thread, nullptr) == 0, "thread");
  }
}

// Looks at its memory between short sleeps: they take as long as they take, and no longer.
void naps() {
  SelfConnection connection;
  connection.open();
  volatile std::uint8_t* arrives = connection.buffer + connection.size / 2;
  for (int i = 1; i <= 100; ++i) {
    connection.buffer[0] = static_cast<std::uint8_t>(i);
    connection.post();
    while (*arrives != i) usleep(1000);
    need(connection.poll() == IBV_WC_SUCCESS, "a completion with an error");
  }
}

// What was given back is not the device's any more, whatever lies there now.
void unmap() {
  SelfConnection connection;
  connection.size = 2 * kPage;
  void* memory = mmap(nullptr, connection.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  connection.buffer = static_cast<std::uint8_t*>(memory);
  connection.open();
  connection.round();
  need(munmap(memory, connection.size) == 0, "not unmapped");
  void* again = mmap(memory, connection.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  need(again == memory, "not mapped again");
  std::memset(again, 7, connection.size);
  connection.post();
  const ibv_wc_status status = connection.poll();
  std::printf("after munmap: %s\n", ibv_wc_status_str(status));
  need(status != IBV_WC_SUCCESS, "the device still reads it");
  for (std::size_t i = kPage; i < connection.size; ++i) need(connection.buffer[i] == 7, "the device still writes it");
}

// A block that the C library gives back to the kernel by itself: nobody is told, but it can't be reached.
void freeRegistered() {
  SelfConnection connection;
  connection.size = std::size_t{64} << 20;
  connection.buffer = static_cast<std::uint8_t*>(std::malloc(connection.size));
  need(connection.buffer != nullptr, "no memory");
  connection.open();
  connection.round();
  std::free(connection.buffer);
  connection.post();
  const ibv_wc_status status = connection.poll();
  std::printf("after free: %s\n", ibv_wc_status_str(status));
  need(status != IBV_WC_SUCCESS, "the device still reads it");
}

}  // namespace

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const auto is = [what](const char* word) { return std::strcmp(what, word) == 0; };
  if (is("segv")) ownFaults();
  if (is("fork")) forkWhileOpen();
  if (is("dlopen")) load();
  if (is("threads")) twoThreads();
  if (is("many_threads")) manyThreads();
  if (is("naps")) naps();
  if (is("unmap")) unmap();
  if (is("free")) freeRegistered();
  if (is("crash") || is("leave")) {
    SelfConnection connection;
    connection.open();
    connection.round();
    if (is("crash")) std::abort();
    _exit(0);
  }
  std::printf("manners: %s\n", what);
  return 0;
}

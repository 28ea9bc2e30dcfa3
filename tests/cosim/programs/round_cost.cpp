// What a round of a verbs program costs in wall time: a queue pair connected to itself, one RDMA write posted and
// polled for at a time; beside it a bare trap, which no register access of a program that runs in a simulation can
// beat.
//
// usage: round_cost [ROUNDS]
//
// Prints "trap_ns A round_ns B ratio C", the best of several passes each.
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/cosim/programs/self_connection.h"

using hcasim_test::need;
using hcasim_test::SelfConnection;

namespace {

constexpr int kPasses = 7;
constexpr std::size_t kPage = 4096;

template <class Work>
double bestNanoseconds(int rounds, Work work) {
  double best = 1e18;
  for (int pass = 0; pass < kPasses; ++pass) {
    const auto began = std::chrono::steady_clock::now();
    for (int round = 0; round < rounds; ++round) work();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - began;
    best = std::min(best, spent.count() / rounds);
  }
  return best;
}

extern "C" const char trappedStoreEnd[];

void skipStore(int, siginfo_t*, void* context) {
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(trappedStoreEnd);
}

// A store to a page without access, whose handler does nothing but go on behind it. Before the device is opened: then
// the signal is the program's own.
double bareTrap(int rounds) {
  void* page = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  need(page != MAP_FAILED, "no memory");
  struct sigaction action {};
  struct sigaction before {};
  action.sa_sigaction = skipStore;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
  const double cost = bestNanoseconds(
      rounds, [page]() __attribute__((noinline)) {
        asm volatile("movq %%rax, (%0)\n.globl trappedStoreEnd\ntrappedStoreEnd:" : : "r"(page) : "memory");
      });
  sigaction(SIGSEGV, &before, nullptr);
  munmap(page, kPage);
  return cost;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 2000;
  const double trap = bareTrap(rounds);
  static SelfConnection own;
  own.open();
  const double cost = bestNanoseconds(rounds, [] { own.round(); });
  std::printf("trap_ns %.0f round_ns %.0f ratio %.2f\n", trap, cost, cost / trap);
  return 0;
}

// What reading the clock costs, and what it shows: the same whether or not the simulation was asked.
//
// usage: clock_cost READS
#include <sys/syscall.h>
#include <unistd.h>
#include <chrono>
#include <ctime>

#include "tests/cosim/programs/self_connection.h"

using hcasim_test::need;

namespace {

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}
double real() {
  timespec time{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  const int reads = argc > 1 ? std::atoi(argv[1]) : 1000;
  hcasim_test::SelfConnection connection;
  connection.open();
  // Between events, and while some are pending.
  for (int i = 0; i < reads; ++i) {
    const std::int64_t before = now();
    need(now() > before, "the clock stands");
    connection.post();
    std::int64_t last = now();
    for (int j = 0; j < 20; ++j) {
      const std::int64_t present = now();
      need(present == last + 1, "a read takes another time than 1 ns");
      last = present;
    }
    need(connection.poll() == IBV_WC_SUCCESS, "a completion with an error");
  }
  const double start = real();
  for (int i = 0; i < reads; ++i) {
    (void)now();
    if (i % 50 == 0) connection.round();
  }
  std::printf("%.3f us a read\n", (real() - start) * 1e6 / reads);
  std::printf("simulated: %lld ns\n", static_cast<long long>(now()));
  return 0;
}

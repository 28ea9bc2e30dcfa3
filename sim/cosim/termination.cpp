#include "sim/cosim/termination.h"

#include <csignal>
#include <cstring>

namespace hca::cosim {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t noted = 0;

void note(int number) { noted = number; }

void install(void (*handler)(int)) {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = handler;  // without SA_RESTART: waits are to end
  for (const int number : kSignals) sigaction(number, &action, nullptr);
}

}  // namespace

Termination::Termination() { install(note); }
Termination::~Termination() { install(SIG_DFL); }
int Termination::signal() { return noted; }

}  // namespace hca::cosim

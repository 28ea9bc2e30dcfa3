#include "sim/cosim/program.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "sim/cosim/program_check.h"

namespace hca::cosim {
namespace {

int shellStatus(int status) {
  constexpr int kSignalled = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

// In the child: never returns. Tells through `report` why the program could not be started.
[[noreturn]] void become(const ProgramStart& start, int report, pid_t launcher) {
  if (start.endsWithLauncher) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher) _exit(127);  // it is gone already
  }
  for (const auto& [name, value] : start.environment) setenv(name.c_str(), value.c_str(), 1);
  if (start.output >= 0) {
    dup2(start.output, STDOUT_FILENO);
    dup2(start.output, STDERR_FILENO);
  }
  std::vector<char*> words;
  for (const std::string& word : start.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  const int error = errno;
  (void)!::write(report, &error, sizeof error);
  _exit(127);
}

}  // namespace

Program::Program(const ProgramStart& start) {
  if (const std::string why = whyNotCosimulated(start.words); !why.empty()) throw std::runtime_error(why);
  const pid_t launcher = getpid();
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made");
  process_ = fork();
  if (process_ == 0) become(start, report[1], launcher);
  ::close(report[1]);
  int error = 0;
  const bool failed = process_ < 0 || ::read(report[0], &error, sizeof error) == sizeof error;
  ::close(report[0]);
  if (!failed) return;
  if (process_ > 0) waitpid(process_, nullptr, 0);
  throw std::runtime_error("'" + start.words[0] + "' can't be started: " + std::strerror(error));
}

std::optional<int> Program::poll() {
  int status = 0;
  if (!status_ && waitpid(process_, &status, WNOHANG) == process_) status_ = shellStatus(status);
  return status_;
}

bool Program::waitInterruptibly() {
  int status = 0;
  if (status_) return true;
  if (waitpid(process_, &status, 0) != process_) return false;
  status_ = shellStatus(status);
  return true;
}

void Program::signal(int number) const {
  if (!status_) kill(process_, number);
}

}  // namespace hca::cosim

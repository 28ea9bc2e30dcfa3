#include "tests/sim/driver/random/forked_run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "tests/sim/driver/random/random_driver.h"

namespace hca::test {
namespace {

constexpr unsigned kPatience = 120;  // seconds

[[noreturn]] void runAndReport(const RandomWorld& world, const Script& script, int to) {
  alarm(kPatience);
  RandomDriver driver(world);
  const std::string problem = driver.run(script);
  const bool told = write(to, problem.data(), problem.size()) == static_cast<ssize_t>(problem.size());
  _exit(told ? 0 : 1);
}

}  // namespace

std::string forkedRun(const RandomWorld& world, const Script& script) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) {
    close(ends[0]);
    runAndReport(world, script, ends[1]);
  }
  close(ends[1]);
  std::string problem;
  char buffer[512];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;) {
    problem.append(buffer, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "killed by signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return "exit status " + std::to_string(WEXITSTATUS(status));
  return problem;
}

}  // namespace hca::test

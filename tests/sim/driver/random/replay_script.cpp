// Runs a script of the random driver's again: one that the random test printed, or one written by hand.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "tests/sim/driver/random/forked_run.h"

namespace {

constexpr int kDisagrees = 1, kBadInput = 2;

int badInput(const std::string& what) {
  std::cerr << "random_driver_replay: " << what << '\n';
  return kBadInput;
}

}  // namespace

// libsystemc's own main refers to it; never called.
extern "C" int sc_main(int, char*[]) { return 0; }

int main(int count, char** arguments) {
  if (count != 3)
    return badInput("usage: random_driver_replay SEED FILE   (the seed makes the system, FILE has steps)");
  char* end = nullptr;
  const std::uint64_t seed = std::strtoull(arguments[1], &end, 10);
  if (end == arguments[1] || *end != '\0') return badInput(std::string(arguments[1]) + " is no seed");
  std::ifstream file(arguments[2]);
  std::ostringstream lines;
  lines << file.rdbuf();
  const std::string text = lines.str();
  const hca::test::Script script = hca::test::scriptOf(text);
  const auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  if (!file.is_open() || script.empty()) return badInput(std::string(arguments[2]) + " has no steps");
  if (script.size() < ends) {
    return badInput(std::string(arguments[2]) + ':' + std::to_string(script.size() + 1) + ": is no step");
  }
  const std::string problem = hca::test::forkedRun({seed}, script);
  std::cout << script.size() << " steps: " << (problem.empty() ? "agree with the contract" : problem) << '\n';
  return problem.empty() ? 0 : kDisagrees;
}

// Runs a script of the random driver's again: one that the random test printed, one written by hand, or the whole one
// that a seed stands for.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/sim/driver/random/forked_run.h"
#include "tests/sim/driver/random/shrink.h"

namespace {

using hca::test::Script;

constexpr int kDisagrees = 1, kBadInput = 2;
constexpr std::size_t kMostTries = 20'000;

int badInput(const std::string& what) {
  std::cerr << "random_driver_replay: " << what << '\n';
  return kBadInput;
}

/// Empty, or what is wrong with the file.
std::string readScript(const std::string& name, Script& script) {
  std::ifstream file(name);
  std::ostringstream lines;
  lines << file.rdbuf();
  const std::string text = lines.str();
  script = hca::test::scriptOf(text);
  const auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  if (!file.is_open() || script.empty()) return name + " has no steps";
  if (script.size() < ends) return name + ':' + std::to_string(script.size() + 1) + ": is no step";
  return {};
}

}  // namespace

// libsystemc's own main refers to it; never called.
extern "C" int sc_main(int, char*[]) { return 0; }

int main(int count, char** values) {
  std::vector<std::string> arguments(values + 1, values + count);
  const bool shrinks = !arguments.empty() && arguments.back() == "--shrink";
  if (shrinks) arguments.pop_back();
  if (arguments.empty() || arguments.size() > 2) {
    return badInput(
        "usage: random_driver_replay SEED [FILE] [--shrink]   (without FILE, all that the seed stands for)");
  }
  char* end = nullptr;
  const std::uint64_t seed = std::strtoull(arguments[0].c_str(), &end, 10);
  if (arguments[0].empty() || *end != '\0') return badInput(arguments[0] + " is no seed");
  Script script = hca::test::randomScript(seed, hca::test::kScriptSteps);
  if (arguments.size() == 2) {
    const std::string wrong = readScript(arguments[1], script);
    if (!wrong.empty()) return badInput(wrong);
  }
  const std::string problem = hca::test::forkedRun({seed}, script);
  std::cout << script.size() << " steps: " << (problem.empty() ? "agree with the contract" : problem) << std::endl;
  if (problem.empty()) return 0;
  if (shrinks) {
    const auto fails = [&](const Script& part) {
      return hca::test::isSameKind(hca::test::forkedRun({seed}, part), problem);
    };
    const Script shortest = hca::test::shrink(script, fails, kMostTries);
    std::cout << "shrunk to " << shortest.size() << " steps: " << hca::test::forkedRun({seed}, shortest) << '\n'
              << hca::test::text(shortest);
  }
  return kDisagrees;
}

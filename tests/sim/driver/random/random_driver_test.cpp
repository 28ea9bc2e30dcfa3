// Random software against the contract.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/sim/driver/random/forked_run.h"
#include "tests/sim/driver/random/shrink.h"

namespace hca::test {
namespace {

/// Runs the scripts of some seeds; a script that fails is shrunk and shown.
void runSeeds(std::uint64_t first, std::uint64_t count, std::size_t steps) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const RandomWorld world{seed};
    const Script script = randomScript(seed, steps);
    const std::string problem = forkedRun(world, script);
    if (problem.empty()) continue;
    std::cout << "seed " << seed << ": " << problem << "\nshrinking" << std::endl;
    const Script shortest = shrink(
        script, [&](const Script& part) { return isSameKind(forkedRun(world, part), problem); }, 400);
    FAIL() << "seed " << seed << ": " << problem << "\nshrunk to " << shortest.size()
           << " steps, which give: " << forkedRun(world, shortest) << "\n"
           << text(shortest) << "With these lines in FILE: random_driver_replay " << seed << " FILE";
  }
}

class RandomDriverSeeds : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, RandomDriverSeeds, testing::Range<std::uint64_t>(0, HCASIM_RANDOM_CASES));

TEST_P(RandomDriverSeeds, AgreeWithTheContract) { runSeeds(1000 * GetParam(), HCASIM_RANDOM_SEEDS, kScriptSteps); }

#if HCASIM_RANDOM_CASES < 10
// A rule that isn't in the contract must be found, and what shows it is one unsignaled request and one behind it.
TEST(RandomDriverShrinker, ShowsABrokenRuleInAFewSteps) {
  RandomWorld world{4};
  const Script script = randomScript(4, 300);
  ASSERT_EQ(forkedRun(world, script), "");
  world.expectUnsignaledToComplete = true;
  const auto fails = [&](const Script& part) { return !forkedRun(world, part).empty(); };
  ASSERT_TRUE(fails(script));
  const Script shortest = shrink(script, fails);
  EXPECT_LE(shortest.size(), 4U) << text(shortest);
  EXPECT_NE(forkedRun(world, shortest).find("before it did not"), std::string::npos) << forkedRun(world, shortest);
  for (std::size_t i = 0; i < shortest.size() && shortest.size() > 1; ++i) {
    Script rest = shortest;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(fails(rest)) << "step " << i << " is not needed";
  }
  EXPECT_EQ(text(scriptOf(text(shortest))), text(shortest));
}

TEST(RandomDriverShrinker, KeepsToOneKindOfProblem) {
  EXPECT_TRUE(isSameKind("step 12: request 7 never completed", "at the end: request 19 never completed"));
  EXPECT_FALSE(isSameKind("step 12: request 7 never completed", "step 12: request 7 was not flushed"));
  EXPECT_FALSE(isSameKind("step 12: request 7 never completed", ""));
}

TEST(RandomDriverShrinker, LeavesWhatAllTheFailureNeeds) {
  Script script(100);
  for (std::uint32_t i = 0; i < script.size(); ++i) script[i].target = i;
  const auto fails = [](const Script& part) {
    std::size_t needed = 0;
    for (const Step& step : part) needed += step.target == 3 || step.target == 50 || step.target == 99 ? 1 : 0;
    return needed == 3;
  };
  const Script shortest = shrink(script, fails);
  ASSERT_EQ(shortest.size(), 3U);
  EXPECT_EQ(shortest[1].target, 50U);
}

#endif

}  // namespace
}  // namespace hca::test

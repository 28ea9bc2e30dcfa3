#include "tests/sim/driver/random/random_script.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "tests/sim/driver/random/random_numbers.h"

namespace hca::test {
namespace {

struct Weight {
  StepKind kind;
  const char* name;
  std::uint32_t weight;
};
constexpr Weight kWeights[] = {
    {StepKind::kPostSend, "post_send", 300}, {StepKind::kPostReceive, "post_receive", 220},
    {StepKind::kPoll, "poll", 250},          {StepKind::kArm, "arm", 90},
    {StepKind::kSleep, "sleep", 25},         {StepKind::kResize, "resize", 15},
    {StepKind::kModerate, "moderate", 15},   {StepKind::kError, "error", 4},
    {StepKind::kRebuild, "rebuild", 6},      {StepKind::kReplaceQueue, "replace_queue", 2},
    {StepKind::kSettle, "settle", 8},
};

}  // namespace

Script randomScript(std::uint64_t seed, std::size_t steps) {
  RandomNumbers random(seed);
  std::uint32_t sum = 0;
  for (const Weight& weight : kWeights) sum += weight.weight;
  Script script(steps);
  for (Step& step : script) {
    std::uint32_t draw = random.below(sum);
    const Weight* choice = std::begin(kWeights);
    while (draw >= choice->weight) draw -= choice++->weight;
    step.kind = choice->kind;
    step.target = random.below(1U << 16);
    step.seed = static_cast<std::uint32_t>(random.next());
    // Mostly a burst, at times a pause in which everything arrives.
    step.delay = random.percent(60) ? random.below(50) : random.percent(80) ? random.below(2000) : random.below(20'000);
  }
  return script;
}

std::string text(const Script& script) {
  std::ostringstream out;
  for (const Step& step : script) {
    const auto* weight = std::find_if(std::begin(kWeights), std::end(kWeights),
                                      [&](const Weight& each) { return each.kind == step.kind; });
    out << weight->name << ' ' << step.target << ' ' << step.seed << ' ' << step.delay << '\n';
  }
  return out.str();
}

Script scriptOf(const std::string& text) {
  std::istringstream in(text);
  Script script;
  std::string name;
  Step step;
  while (in >> name >> step.target >> step.seed >> step.delay) {
    const auto* weight =
        std::find_if(std::begin(kWeights), std::end(kWeights), [&](const Weight& each) { return name == each.name; });
    if (weight == std::end(kWeights)) break;
    step.kind = weight->kind;
    script.push_back(step);
  }
  return script;
}

}  // namespace hca::test

// What random software does, as a list of plain steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hca::test {

enum class StepKind : std::uint8_t {
  kPostSend,
  kPostReceive,
  kPoll,
  kArm,
  kSleep,         ///< the thread waits for an event
  kResize,        ///< a completion queue
  kModerate,      ///< the same
  kError,         ///< takes a queue pair to error
  kRebuild,       ///< destroys the queue pairs of a connection and makes new ones, on other completion queues
  kReplaceQueue,  ///< destroys a completion queue, with what uses it, and makes a new one
  kSettle,        ///< waits until nothing more can happen, and compares everything
};

/// A step means something in any state, if only "nothing": a script without some of its steps is a script. What it does
/// in detail follows from `seed` alone.
struct Step {
  StepKind kind = StepKind::kSettle;
  std::uint32_t target = 0;  ///< which host, connection or queue, modulo how many there are
  std::uint32_t seed = 0;
  std::uint32_t delay = 0;  ///< nanoseconds before the step
};
using Script = std::vector<Step>;

/// The system and the rules under which a script runs.
struct RandomWorld {
  std::uint64_t seed = 0;
  /// A rule that the contract doesn't have: an unsignaled request completes, too. Shows that the driver finds what
  /// doesn't agree with the reference, and how a script shrinks.
  bool expectUnsignaledToComplete = false;
};

/// Steps of a script that tests make of a seed.
constexpr std::size_t kScriptSteps = 2500;
[[nodiscard]] Script randomScript(std::uint64_t seed, std::size_t steps);

/// One step a line: kind, target, seed, delay.
[[nodiscard]] std::string text(const Script& script);
/// Reads what `text` wrote. Stops at the first line that is none.
[[nodiscard]] Script scriptOf(const std::string& text);

}  // namespace hca::test

// Which verb each message of a flow is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "sim/workload/flow_config.h"
#include "sim/workload/weighted_mix.h"

namespace hca::sim {

/// Verbs and their weights, as the key `verb_mix` has them: "write:70, read:20, send:10".
using VerbMix = WeightedMix<FlowVerb>;
[[nodiscard]] VerbMix parseVerbMix(const std::string& text);

[[nodiscard]] driver::SendOpcode opcodeOf(FlowVerb verb);
/// What an atomic does: each adds one to the word that it finds. `number`: of the atomic, on its word.
void setOperands(FlowVerb verb, std::uint64_t number, driver::SendWorkRequest& request);

/// The verb of a message is a function of seed, queue pair and number alone.
class MessageVerbs {
 public:
  /// Precondition: the rules of the flow hold (flow_rules.h).
  MessageVerbs(const FlowConfig& config, std::uint64_t seed);

  [[nodiscard]] bool isMixed() const { return mix_.parts.size() > 1; }
  /// The verb of message `number` of queue pair `index`.
  [[nodiscard]] FlowVerb of(std::uint32_t index, std::uint64_t number) const {
    return isMixed() ? draw(index, number) : mix_.parts.front().first;
  }
  /// Whether `is` holds for a verb that may come.
  template <class Is>
  [[nodiscard]] bool any(Is&& is) const {
    return std::any_of(mix_.parts.begin(), mix_.parts.end(), [&](const auto& part) { return is(part.first); });
  }

 private:
  [[nodiscard]] FlowVerb draw(std::uint32_t index, std::uint64_t number) const;

  VerbMix mix_;
  std::uint64_t seed_;
};

}  // namespace hca::sim

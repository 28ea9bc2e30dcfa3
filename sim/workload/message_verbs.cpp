#include "sim/workload/message_verbs.h"

#include <iterator>

#include "models/base/mixed_bits.h"

namespace hca::sim {

VerbMix parseVerbMix(const std::string& text) {
  return parseWeightedMix<FlowVerb>(
      text, "is no verb with a weight, such as write:70", [](const std::string& name, FlowVerb& verb) {
        const auto& names = config::EnumNames<FlowVerb>::kNames;
        const auto* found =
            std::find_if(std::begin(names), std::end(names), [&](const auto& each) { return name == each.first; });
        if (found == std::end(names)) return false;
        verb = found->second;
        return true;
      });
}

driver::SendOpcode opcodeOf(FlowVerb verb) {
  using driver::SendOpcode;
  switch (verb) {
    case FlowVerb::kWrite:
      return SendOpcode::kWrite;
    case FlowVerb::kWriteImmediate:
      return SendOpcode::kWriteImmediate;
    case FlowVerb::kSend:
      return SendOpcode::kSend;
    case FlowVerb::kSendImmediate:
      return SendOpcode::kSendImmediate;
    case FlowVerb::kRead:
      return SendOpcode::kRead;
    case FlowVerb::kFetchAdd:
      return SendOpcode::kFetchAdd;
    case FlowVerb::kCompareSwap:
      return SendOpcode::kCompareSwap;
  }
  return SendOpcode::kSend;
}

void setOperands(FlowVerb verb, std::uint64_t number, driver::SendWorkRequest& request) {
  request.compareOrAdd = verb == FlowVerb::kCompareSwap ? number : 1;
  request.swap = number + 1;
}

MessageVerbs::MessageVerbs(const FlowConfig& config, std::uint64_t seed) : seed_(seed) {
  if (!config.verb_mix.empty()) mix_ = parseVerbMix(config.verb_mix);
  if (mix_.parts.empty()) mix_.parts.emplace_back(config.verb, 1);
}

// Apart from what the sizes are drawn from.
FlowVerb MessageVerbs::draw(std::uint32_t index, std::uint64_t number) const {
  return mix_.draw(mixedBits(mixedBits(~seed_ + index) + number));
}

}  // namespace hca::sim

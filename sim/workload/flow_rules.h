// What a flow's keys must be like together.
#pragma once

#include <string>
#include <vector>

#include "sim/workload/flow_config.h"

namespace hca::sim {

struct FlowProblem {
  std::string key;
  std::string what;  ///< completes the sentence that begins with the key's value
};

/// Combinations that no flow of this kind can do. Empty: none.
[[nodiscard]] std::vector<FlowProblem> flowProblems(const FlowConfig& flow);

}  // namespace hca::sim

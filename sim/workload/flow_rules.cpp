#include "sim/workload/flow_rules.h"

namespace hca::sim {

std::vector<FlowProblem> flowProblems(const FlowConfig& flow) {
  std::vector<FlowProblem> problems;
  if (flow.kind != FlowKind::kBandwidth && flow.qps != 1) {
    problems.push_back({"qps", "is for kind = bandwidth; the other kinds use one queue pair"});
  }
  if (flow.kind != FlowKind::kBandwidth && flow.resize_to != 0) {
    problems.push_back({"resize_to", "is for kind = bandwidth"});
  }
  if (flow.kind == FlowKind::kLatency && flow.verb == FlowVerb::kWrite && flow.size < Bytes(1)) {
    problems.push_back({"size", "is too short: the other side waits for the last byte of a write"});
  }
  if (flow.kind == FlowKind::kArmRace) {
    if (flow.verb == FlowVerb::kWrite) {
      problems.push_back({"verb", "gives the server no completion: use send, send_with_imm or write_with_imm"});
    }
    if (flow.events == EventOrder::kOff) {
      problems.push_back({"events", "must be safe or unsafe: the race is between a poll and an arm"});
    }
    if (flow.iters == 0) problems.push_back({"iters", "must say how many messages are sent"});
  }
  return problems;
}

}  // namespace hca::sim

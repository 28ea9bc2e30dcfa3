#include "sim/workload/flow_rules.h"

namespace hca::sim {

namespace {

void checkTransport(const FlowConfig& flow, std::vector<FlowProblem>& problems) {
  if (flow.transport != FlowTransport::kRc && hasResponse(flow.verb)) {
    problems.push_back({"verb", "needs transport = rc: the unreliable services have no reads and atomics"});
  }
  if (flow.transport != FlowTransport::kUd) return;
  if (flow.verb == FlowVerb::kWrite || flow.verb == FlowVerb::kWriteImmediate) {
    problems.push_back({"verb", "is nothing for datagrams: use send or send_with_imm"});
  }
  if (flow.size > flow.mtu) problems.push_back({"size", "is more than mtu: a datagram is one packet"});
}

void checkResponses(const FlowConfig& flow, std::vector<FlowProblem>& problems) {
  if (isAtomic(flow.verb) && flow.size != Bytes(8)) {
    problems.push_back({"size", "must be 8B: that is what an atomic works on"});
  }
  if (flow.kind == FlowKind::kLatency && hasResponse(flow.verb) && flow.cq_mod != 1) {
    problems.push_back({"cq_mod", "must be 1: the completion of a read or an atomic is what ends a sample"});
  }
}

void checkSolicited(const FlowConfig& flow, std::vector<FlowProblem>& problems) {
  if (flow.kind != FlowKind::kBandwidth || !flow.solicited) {
    problems.push_back({"solicited_every", "is for kind = bandwidth with solicited = yes"});
  }
  if (flow.solicited_every > flow.rx_depth) {
    problems.push_back({"solicited_every", "is more than rx_depth: the server would run out of receives asleep"});
  }
}

}  // namespace

std::vector<FlowProblem> flowProblems(const FlowConfig& flow) {
  std::vector<FlowProblem> problems;
  if (flow.kind != FlowKind::kBandwidth && flow.qps != 1) {
    problems.push_back({"qps", "is for kind = bandwidth; the other kinds use one queue pair"});
  }
  if (flow.kind != FlowKind::kBandwidth && flow.resize_to != 0) {
    problems.push_back({"resize_to", "is for kind = bandwidth"});
  }
  if (flow.srq && (flow.kind != FlowKind::kBandwidth || !usesReceive(flow.verb))) {
    problems.push_back({"srq", "is for kind = bandwidth with a verb that takes receives"});
  }
  if (flow.kind == FlowKind::kLatency && flow.verb == FlowVerb::kWrite && flow.size < Bytes(1)) {
    problems.push_back({"size", "is too short: the other side waits for the last byte of a write"});
  }
  checkTransport(flow, problems);
  checkResponses(flow, problems);
  if (flow.solicited_every != 1) checkSolicited(flow, problems);
  if (flow.kind == FlowKind::kArmRace) {
    if (!usesReceive(flow.verb)) {
      problems.push_back({"verb", "gives the server no completion: use send, send_with_imm or write_with_imm"});
    }
    if (flow.transport != FlowTransport::kRc) {
      problems.push_back({"transport", "must be rc: a lost message would look like a lost wake-up"});
    }
    if (flow.events == EventOrder::kOff) {
      problems.push_back({"events", "must be safe or unsafe: the race is between a poll and an arm"});
    }
    if (flow.iters == 0) problems.push_back({"iters", "must say how many messages are sent"});
  }
  return problems;
}

}  // namespace hca::sim

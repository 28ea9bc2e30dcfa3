#include "sim/workload/flow_rules.h"

#include <algorithm>

#include "sim/workload/client_hosts.h"
#include "sim/workload/message_sizes.h"
#include "sim/workload/message_verbs.h"

namespace hca::sim {

namespace {

/// Whether `is` holds for a verb of the flow.
template <class Is>
bool any(const FlowConfig& flow, Is&& is) {
  if (flow.verb_mix.empty()) return is(flow.verb);
  const VerbMix mix = parseVerbMix(flow.verb_mix);
  return std::any_of(mix.parts.begin(), mix.parts.end(), [&](const auto& part) { return is(part.first); });
}

/// The key that names the flow's verbs.
const char* verbKey(const FlowConfig& flow) { return flow.verb_mix.empty() ? "verb" : "verb_mix"; }

void checkVerbMix(const FlowConfig& flow, std::vector<FlowProblem>& problems) {
  if (flow.verb_mix.empty()) return;
  if (flow.kind != FlowKind::kBandwidth) problems.push_back({"verb_mix", "is for kind = bandwidth"});
  const VerbMix mix = parseVerbMix(flow.verb_mix);
  if (!mix.problem.empty()) problems.push_back({"verb_mix", mix.problem});
}

void checkXrc(const FlowConfig& flow, std::vector<FlowProblem>& problems) {
  if (flow.srq) problems.push_back({"srq", "is nothing beside transport = xrc, which has shared queues anyway"});
  if (flow.xrc_srqs == 1) return;
  if (flow.kind != FlowKind::kBandwidth) problems.push_back({"xrc_srqs", "is for kind = bandwidth"});
  if (!flow.shared_cq) {
    problems.push_back({"xrc_srqs", "needs shared_cq = yes: messages of a queue pair would come out of order"});
  }
}

void checkTransport(const FlowConfig& flow, std::vector<FlowProblem>& problems) {
  if (!isReliable(flow.transport) && any(flow, hasResponse)) {
    problems.push_back(
        {verbKey(flow), "needs transport = rc or xrc: the unreliable services have no reads and atomics"});
  }
  if (flow.transport == FlowTransport::kXrc) return checkXrc(flow, problems);
  if (flow.transport != FlowTransport::kUd) return;
  if (any(flow, isWrite)) {
    problems.push_back({verbKey(flow), "is nothing for datagrams: use send or send_with_imm"});
  }
  if (flow.size > flow.mtu) problems.push_back({"size", "is more than mtu: a datagram is one packet"});
}

void checkResponses(const FlowConfig& flow, std::vector<FlowProblem>& problems) {
  if (flow.verb_mix.empty() && isAtomic(flow.verb) && flow.size != Bytes(8)) {
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

void checkDistribution(const FlowConfig& flow, std::vector<FlowProblem>& problems) {
  if (flow.size_distribution == SizeDistribution::kFixed) return;
  if (flow.kind != FlowKind::kBandwidth || (flow.verb_mix.empty() && isAtomic(flow.verb))) {
    problems.push_back({"size_distribution", "is for kind = bandwidth, and not for atomics"});
  }
  if (flow.size_min > flow.size) problems.push_back({"size_min", "is more than size"});
  if (flow.size_distribution == SizeDistribution::kLogNormal && flow.size_median < Bytes(1)) {
    problems.push_back({"size_median", "must be given for a lognormal distribution"});
  }
  if (flow.size_distribution != SizeDistribution::kMix) return;
  const SizeMix mix = parseSizeMix(flow.size_mix);
  if (!mix.problem.empty()) return problems.push_back({"size_mix", mix.problem});
  for (const auto& part : mix.parts) {
    if (Bytes(part.first) > flow.size) return problems.push_back({"size_mix", "has a size that is more than size"});
  }
}

void checkArrival(const FlowConfig& flow, std::vector<FlowProblem>& problems) {
  if (flow.arrival == ArrivalKind::kClosed) {
    if (flow.rate != 0) problems.push_back({"rate", "counts for arrival = fixed, poisson or burst alone"});
    return;
  }
  if (flow.kind != FlowKind::kBandwidth) problems.push_back({"arrival", "is for kind = bandwidth"});
  if (flow.rate == 0) problems.push_back({"rate", "must say how many messages arrive in a second"});
  if (flow.events != EventOrder::kOff) {
    problems.push_back({"events", "must be off: a client that sleeps for an event would miss the next arrival"});
  }
  if (flow.cq_mod != 1) problems.push_back({"cq_mod", "must be 1: every message's latency counts"});
  if (flow.post_list != 1) problems.push_back({"post_list", "must be 1: messages are posted as they arrive"});
}

void checkClients(const FlowConfig& flow, std::vector<FlowProblem>& problems) {
  if (flow.clients.empty()) return;
  if (flow.kind == FlowKind::kArmRace) problems.push_back({"clients", "is nothing for kind = arm_race"});
  const ClientHosts clients = parseClientHosts(flow.clients);
  if (!clients.problem.empty()) problems.push_back({"clients", clients.problem});
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
  if (flow.srq && (flow.kind != FlowKind::kBandwidth || !any(flow, usesReceive))) {
    problems.push_back({"srq", "is for kind = bandwidth with a verb that takes receives"});
  }
  if (flow.kind == FlowKind::kLatency && flow.verb == FlowVerb::kWrite && flow.size < Bytes(1)) {
    problems.push_back({"size", "is too short: the other side waits for the last byte of a write"});
  }
  checkVerbMix(flow, problems);
  checkTransport(flow, problems);
  checkResponses(flow, problems);
  checkDistribution(flow, problems);
  checkArrival(flow, problems);
  checkClients(flow, problems);
  if (flow.solicited_every != 1) checkSolicited(flow, problems);
  if (flow.kind == FlowKind::kArmRace) {
    if (!usesReceive(flow.verb)) {
      problems.push_back({"verb", "gives the server no completion: use send, send_with_imm or write_with_imm"});
    }
    if (!isReliable(flow.transport)) {
      problems.push_back({"transport", "must be rc or xrc: a lost message would look like a lost wake-up"});
    }
    if (flow.events != EventOrder::kSafe && flow.events != EventOrder::kUnsafe) {
      problems.push_back({"events", "must be safe or unsafe: the race is between a poll and an arm"});
    }
    if (flow.iters == 0) problems.push_back({"iters", "must say how many messages are sent"});
  }
  return problems;
}

}  // namespace hca::sim

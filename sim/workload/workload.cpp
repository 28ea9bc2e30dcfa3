#include "sim/workload/workload.h"

#include <algorithm>
#include <utility>

#include "models/base/mixed_bits.h"
#include "sim/workload/arm_race_flow.h"
#include "sim/workload/bandwidth_flow.h"
#include "sim/workload/client_hosts.h"
#include "sim/workload/latency_flow.h"
#include "sim/workload/response_latency_flow.h"

namespace hca::sim {
namespace {

std::unique_ptr<Flow> makeFlow(const std::string& name, const FlowConfig& config, bool movesPayload, std::uint64_t seed,
                               driver::VerbsClient& client, driver::VerbsClient& server) {
  switch (config.kind) {
    case FlowKind::kLatency:
      if (hasResponse(config.verb)) {
        return std::make_unique<ResponseLatencyFlow>(name, config, movesPayload, client, server);
      }
      return std::make_unique<LatencyFlow>(name, config, movesPayload, client, server);
    case FlowKind::kBandwidth:
      return std::make_unique<BandwidthFlow>(name, config, movesPayload, seed, client, server);
    case FlowKind::kArmRace:
      break;
  }
  return std::make_unique<ArmRaceFlow>(name, config, movesPayload, client, server);
}

ThreadPlace clientPlace(const FlowConfig& flow) {
  return {HostIndex(flow.client), flow.client_core, AdapterIndex(flow.client_adapter),
          static_cast<std::uint8_t>(flow.client_port)};
}

ThreadPlace serverPlace(const FlowConfig& flow) {
  return {HostIndex(flow.server), flow.server_core, AdapterIndex(flow.server_adapter),
          static_cast<std::uint8_t>(flow.server_port)};
}

}  // namespace

void Workload::add(const std::string& name, const FlowConfig& config, std::uint32_t serverCores) {
  groups_.emplace_back(name, config);
  std::uint32_t number = 0;
  for (const std::uint32_t host : clientHostsOf(config)) {
    FlowConfig own = config;
    own.client = host;
    own.server_core = (config.server_core + number++) % std::max(serverCores, 1U);
    addFlow(config.clients.empty() ? name : name + '.' + std::to_string(host), own);
    groups_.back().add(*flows_.back());
  }
}

void Workload::addFlow(const std::string& name, const FlowConfig& config) {
  clients_.push_back(threads_.makeThread(clientPlace(config), name + ".client"));
  driver::VerbsClient& client = *clients_.back();
  clients_.push_back(threads_.makeThread(serverPlace(config), name + ".server"));
  const std::uint64_t seed = mixedBits(seed_ + flows_.size());
  flows_.push_back(makeFlow(name, config, movesPayload_, seed, client, *clients_.back()));
}

void Workload::start(std::function<void()> finished) {
  onAllFinished_ = std::move(finished);
  unfinished_ = flows_.size();
  for (const FlowGroup& group : groups_) {
    if (group.config().after.empty()) startGroup(group);
  }
}

void Workload::startGroup(const FlowGroup& group) {
  for (Flow* flow : group.flows()) {
    flow->start([this, flow] { onFinished(*flow); });
  }
}

void Workload::onFinished(const Flow& finished) {
  --unfinished_;
  const auto group = std::find_if(groups_.begin(), groups_.end(), [&](const FlowGroup& g) { return g.has(finished); });
  if (group->finished()) {
    for (const FlowGroup& next : groups_) {
      if (next.config().after == group->name()) startGroup(next);
    }
  }
  if (unfinished_ == 0 && onAllFinished_) onAllFinished_();
}

std::vector<report::FlowResult> Workload::results() const {
  std::vector<report::FlowResult> all;
  for (const FlowGroup& group : groups_) all.push_back(group.result());
  return all;
}

}  // namespace hca::sim

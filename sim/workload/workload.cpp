#include "sim/workload/workload.h"

#include <utility>

#include "models/base/mixed_bits.h"
#include "sim/workload/arm_race_flow.h"
#include "sim/workload/bandwidth_flow.h"
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

void Workload::add(const std::string& name, const FlowConfig& config) {
  clients_.push_back(threads_.makeThread(clientPlace(config), name + ".client"));
  driver::VerbsClient& client = *clients_.back();
  clients_.push_back(threads_.makeThread(serverPlace(config), name + ".server"));
  const std::uint64_t seed = mixedBits(seed_ + flows_.size());
  flows_.push_back(makeFlow(name, config, movesPayload_, seed, client, *clients_.back()));
}

void Workload::start(std::function<void()> finished) {
  onAllFinished_ = std::move(finished);
  unfinished_ = flows_.size();
  for (const auto& flow : flows_) {
    if (flow->config().after.empty()) startFlow(*flow);
  }
}

void Workload::startFlow(Flow& flow) {
  flow.start([this, &flow] { onFinished(flow); });
}

void Workload::onFinished(const Flow& finished) {
  --unfinished_;
  for (const auto& flow : flows_) {
    if (flow->config().after == finished.name()) startFlow(*flow);
  }
  if (unfinished_ == 0 && onAllFinished_) onAllFinished_();
}

std::vector<report::FlowResult> Workload::results() {
  std::vector<report::FlowResult> all;
  for (const auto& flow : flows_) all.push_back(flow->result());
  return all;
}

}  // namespace hca::sim

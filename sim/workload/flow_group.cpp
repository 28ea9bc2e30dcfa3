#include "sim/workload/flow_group.h"

#include <algorithm>

namespace hca::sim {

bool FlowGroup::has(const Flow& flow) const { return std::find(flows_.begin(), flows_.end(), &flow) != flows_.end(); }

bool FlowGroup::finished() const {
  return std::all_of(flows_.begin(), flows_.end(), [](const Flow* flow) { return flow->finished(); });
}

report::FlowResult FlowGroup::result() const {
  if (config_.clients.empty()) return flows_.front()->result();
  report::FlowResult all;
  report::LatencyHistogram latency;
  Time begin = kForever, end{};
  for (Flow* flow : flows_) {
    report::FlowResult own = flow->result();
    all.iterations += own.iterations;
    all.bytes += own.bytes;
    all.errors += own.errors;
    all.latencyKind = own.latencyKind;
    all.published = own.published;
    latency.merge(flow->latency());
    if (own.iterations != 0) {
      begin = std::min(begin, flow->measuredFrom());
      end = later(end, flow->measuredUntil());
    }
    all.clients.push_back(std::move(own));
  }
  all.name = name_;
  all.latency = report::summarise(latency);
  if (begin < end) all.measured = end - begin;
  report::computeRates(all);
  return all;
}

}  // namespace hca::sim

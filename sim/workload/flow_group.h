// What a [flow.NAME] section comes to.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/workload/flow.h"

namespace hca::sim {

/// One flow, or where the section names several clients, one from each of them.
class FlowGroup {
 public:
  FlowGroup(std::string name, FlowConfig config) : name_(std::move(name)), config_(std::move(config)) {}

  /// `flow` outlives the group.
  void add(Flow& flow) { flows_.push_back(&flow); }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const FlowConfig& config() const { return config_; }
  [[nodiscard]] const std::vector<Flow*>& flows() const { return flows_; }
  [[nodiscard]] bool has(const Flow& flow) const;
  [[nodiscard]] bool finished() const;
  /// Of all flows together: from the first measured message to the last, whoever sent them; and of each client, if the
  /// section names them. After the run.
  [[nodiscard]] report::FlowResult result() const;

 private:
  std::string name_;
  FlowConfig config_;
  std::vector<Flow*> flows_;
};

}  // namespace hca::sim

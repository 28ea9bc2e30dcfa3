// All flows of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/base/ids.h"
#include "sim/driver/verbs_client.h"
#include "sim/report/result.h"
#include "sim/workload/flow_group.h"

namespace hca::sim {

/// Where a thread of software runs, and what it opens.
struct ThreadPlace {
  HostIndex host;
  std::uint32_t core = 0;
  AdapterIndex adapter;
  std::uint8_t port = 1;
};

/// Makes threads of software on the hosts of a system.
class ThreadFactory {
 public:
  virtual std::unique_ptr<driver::VerbsClient> makeThread(const ThreadPlace& place, const std::string& name) = 0;

 protected:
  ~ThreadFactory() = default;
};

/// Runs flows at the same time, or one after the other where `after` says so. Each has a thread of its own on either
/// side.
class Workload {
 public:
  /// `movesPayload`: message bytes are really moved ([run] payload). `seed`: of what flows draw at random.
  Workload(ThreadFactory& threads, bool movesPayload, std::uint64_t seed = 1)
      : threads_(threads), movesPayload_(movesPayload), seed_(seed) {}

  /// Names are unique; `after` names a flow of this workload, without a cycle (the configuration's checks see to it).
  /// Of several clients, the flow from host N is named `name`.N and its server's thread is on the core behind the one
  /// before, of the `serverCores` that the server has.
  void add(const std::string& name, const FlowConfig& config, std::uint32_t serverCores);

  /// Starts every flow that need not wait. `finished` runs when all have finished.
  void start(std::function<void()> finished);
  [[nodiscard]] bool finished() const { return unfinished_ == 0; }

  /// One for each `add`, in that order. After the run.
  [[nodiscard]] std::vector<report::FlowResult> results() const;
  [[nodiscard]] const std::vector<FlowGroup>& groups() const { return groups_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Flow>>& flows() const { return flows_; }

 private:
  void addFlow(const std::string& name, const FlowConfig& config);
  void startGroup(const FlowGroup& group);
  void onFinished(const Flow& flow);

  ThreadFactory& threads_;
  bool movesPayload_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<driver::VerbsClient>> clients_;  // outlive the flows
  std::vector<std::unique_ptr<Flow>> flows_;
  std::vector<FlowGroup> groups_;
  std::size_t unfinished_ = 0;
  std::function<void()> onAllFinished_;
};

}  // namespace hca::sim

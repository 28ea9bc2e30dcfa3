// Every completion as a line of a CSV file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "models/observe/probes.h"
#include "sim/report/completion_csv.h"

namespace hca::observers {

/// Listens to the completion probe and, for the time of the post, to the stage probe.
class CompletionRecorder {
 public:
  /// Both must outlive the run. `namesAdapters`: lines tell the adapter.
  CompletionRecorder(observe::Probes& probes, std::ostream& stream, bool namesAdapters = false);
  CompletionRecorder(const CompletionRecorder&) = delete;
  CompletionRecorder& operator=(const CompletionRecorder&) = delete;

  /// Names the flow that a queue pair belongs to.
  void describe(HostIndex host, AdapterIndex adapter, QpNumber qp, const std::string& flow) {
    flows_[{host, adapter, qp}] = flow;
  }

 private:
  using QueuePair = std::tuple<HostIndex, AdapterIndex, QpNumber>;
  void onPosted(const observe::StageEvent& event);
  void onCompletion(const observe::CompletionEvent& event);

  report::CompletionCsv csv_;
  std::map<QueuePair, std::string> flows_;
  std::map<QueuePair, std::map<std::uint64_t, Time>> posted_;  // send requests under way, by index
};

}  // namespace hca::observers

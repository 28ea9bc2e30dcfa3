// Runs flows on two hosts.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/workload/workload.h"
#include "tests/sim/driver/two_hosts.h"

namespace hca::test {

/// A workload on a system of its own. One a process.
class FlowRun final : private sim::ThreadFactory {
 public:
  explicit FlowRun(const std::function<void(config::Config&)>& change = {})
      : config_(twoHostConfig(change)),
        system_(config_),
        workload_(*this, config_.run.payload == config::PayloadMode::kMoved) {}

  void add(const std::string& name, const sim::FlowConfig& flow) {
    workload_.add(name, flow, static_cast<std::uint32_t>(config_.hosts[flow.server].cpu.cores));
  }

  /// Adds a flow that begins when the last one ends, named by its number.
  void append(sim::FlowConfig flow) {
    const std::size_t count = workload_.flows().size();
    if (count != 0) flow.after = std::to_string(count - 1);
    add(std::to_string(count), flow);
  }

  /// Brings the system up and runs the flows until all finished or nothing is pending. True if all finished.
  bool run(Time limit = kForever) {
    problem_ = system_.bringUp();
    if (!problem_.empty()) return false;
    bool finished = false;
    workload_.start([&] {
      finished = true;
      system_.stop();
    });
    if (!finished) system_.run(limit);
    // Writes that were acknowledged may still be on their way into the server's memory.
    if (finished) system_.run(system_.calendar().now() + microseconds(100));
    return finished;
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] sim::Workload& workload() { return workload_; }
  [[nodiscard]] const sim::Flow& flow(std::size_t index) { return *workload_.flows()[index]; }
  [[nodiscard]] sim::System& system() { return system_; }

 private:
  std::unique_ptr<driver::VerbsClient> makeThread(const sim::ThreadPlace& place, const std::string& name) override {
    sim::AdapterNode& adapter = system_.host(place.host.value()).adapter(place.adapter.value());
    return std::make_unique<driver::ThreadClient>(adapter.environment(), adapter.driver(),
                                                  config_.hosts[place.host.value()].driver, system_.probes(),
                                                  place.core, name, place.port);
  }

  config::Config config_;
  sim::System system_;
  sim::Workload workload_;
  std::string problem_;
};

}  // namespace hca::test

// One run of a configuration, from assembly to result.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "sim/config/config.h"
#include "sim/drills/drill_bench.h"
#include "sim/observers/completion_recorder.h"
#include "sim/observers/event_log.h"
#include "sim/observers/file_observers.h"
#include "sim/observers/observer_set.h"
#include "sim/report/result.h"
#include "sim/system/system.h"
#include "sim/workload/dma_workload.h"
#include "sim/workload/workload.h"

namespace hca::sim {

/// Builds the system, brings it up, runs the flows of the configuration and collects what they did. One a process.
class Simulation final : private ThreadFactory {
 public:
  struct Options {
    bool observe = true;  ///< queues, vectors, hazards, stages; without it only the flows' own figures
    Time quantum = System::kQuantum;
    bool timing = false;                  ///< report wall time and kernel activations
    std::ostream* events = nullptr;       ///< where `print = events` tells; nullptr: nowhere
    std::ostream* completions = nullptr;  ///< for one CSV line a completion; nullptr: nowhere
    observers::ObserverFiles files{};
    /// Called now and then with the share of the work that is done, 0..1.
    std::function<void(double)> progress;
  };
  Simulation(const config::Config& config, const Options& options);
  ~Simulation();

  /// Brings every adapter up: empty, or what went wrong. `run` does it unless it was done.
  [[nodiscard]] std::string bringUp();
  /// Runs to the end of all flows, to the time limit, or until nothing is pending.
  [[nodiscard]] report::Result run();

  [[nodiscard]] System& system() { return system_; }

 private:
  std::unique_ptr<driver::VerbsClient> makeThread(const ThreadPlace& place, const std::string& name) override;
  void makeFlows();
  void makeDma();
  void stopIfFinished();
  void runFlows();
  void settle();
  void attachEventLog();
  void attachCompletionRecorder();
  void nameQueuePairs(const Flow& flow);
  [[nodiscard]] double done() const;
  [[nodiscard]] std::optional<std::uint32_t> completionVectorOf(HostIndex host, AdapterIndex adapter,
                                                                InterruptVector vector) const;

  void collectFlows(report::Result& result);
  void collectDma(report::Result& result) const;
  void collectQueues(report::Result& result);
  void addStuckFlows(report::Result& result) const;

  const config::Config config_;
  Options options_;
  System system_;
  observers::FileObservers files_;
  DrillBench drills_;
  std::unique_ptr<observers::ObserverSet> observers_;
  std::unique_ptr<observers::EventLog> eventLog_;
  std::unique_ptr<observers::CompletionRecorder> completions_;
  Workload workload_;
  DmaWorkload dma_;
  bool isUp_ = false;
  Time ended_{};  // when the last flow finished, or nothing was pending
};

}  // namespace hca::sim

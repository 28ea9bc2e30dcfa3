// The whole simulated system.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/kernel/calendar_module.h"
#include "models/kernel/payload_pool.h"
#include "models/observe/probes.h"
#include "sim/config/config.h"
#include "sim/system/cabling.h"
#include "sim/system/host_node.h"

namespace hca::sim {

/// Hosts and what connects them, assembled from a configuration. One a process: SystemC elaborates once.
class System {
 public:
  /// How far the calendar may run ahead of SystemC's own time (see kernel::CalendarModule); changes no result.
  static constexpr Time kQuantum = microseconds(10);

  explicit System(const config::Config& config, Time quantum = kQuantum);
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  [[nodiscard]] observe::Probes& probes() { return probes_; }
  [[nodiscard]] kernel::Calendar& calendar() { return calendarModule_.calendar(); }
  [[nodiscard]] std::size_t hosts() const { return hosts_.size(); }
  [[nodiscard]] HostNode& host(std::size_t index) { return *hosts_[index]; }
  [[nodiscard]] const HostNode& host(std::size_t index) const { return *hosts_[index]; }
  [[nodiscard]] const Cabling& cabling() const { return cabling_; }
  [[nodiscard]] Cabling& cabling() { return cabling_; }

  /// Starts every driver and runs until all are up. Empty, or what went wrong.
  [[nodiscard]] std::string bringUp();

  /// Runs until `stop`, until nothing is pending any more, or until `limit`. True if it was stopped.
  bool run(Time limit = kForever);
  /// From within the simulation: ends the `run` under way.
  void stop() { calendar().stop(); }

 private:
  observe::Probes probes_;
  kernel::PayloadPool pool_;
  kernel::CalendarModule calendarModule_;
  Cabling cabling_;
  std::unique_ptr<sc_core::sc_module> group_;  // gives the hosts their names: host.0, host.1, ...
  std::vector<std::unique_ptr<HostNode>> hosts_;
};

}  // namespace hca::sim

// Takes requests for drills while a simulation runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/drills/drill_bench.h"

namespace hca::sim {

/// A socket in the folder of a run, for this user alone, at which `hcasim drill` asks (drill_request.h).
class DrillDesk {
 public:
  /// `now`: the earliest simulated time at which something may still happen. Throws std::runtime_error if the socket
  /// can't be made. All references outlive the desk.
  DrillDesk(DrillBench& bench, const config::Config& config, const std::string& folder, std::function<Time()> now);
  ~DrillDesk();
  DrillDesk(const DrillDesk&) = delete;
  DrillDesk& operator=(const DrillDesk&) = delete;

  /// Takes what was asked, between two steps of the simulation, and answers those whose time has come. Never waits.
  /// True if a drill is new.
  bool look();

 private:
  struct Visitor {
    int connection;
    bool hasAsked = false;
    DrillBench::Number drill = 0;
  };
  bool take(Visitor& visitor, bool& isNew);
  static void answer(const Visitor& visitor, bool isAccepted, const std::string& text);

  DrillBench& bench_;
  const config::Config& config_;
  std::string path_;
  std::function<Time()> now_;
  int socket_;
  std::size_t asked_ = 0;
  std::vector<Visitor> visitors_;
};

}  // namespace hca::sim

// Notifications that the InfiniBand specification doesn't promise and that software relied on.
#pragma once

#include <vector>

#include "models/observe/probes.h"
#include "sim/observers/cq_observer.h"
#include "sim/observers/hazard_counts.h"
#include "sim/report/result.h"

namespace hca::observers {

/// Listens to the hazard probe and adds up, per kind and queue.
///
/// The adapter reports every event that came for entries older than the arm. That is harmless if software polls these
/// entries before it goes to sleep, as the safe order does; it counts once a thread sleeps on the queue's channel with
/// such an entry not yet polled: there the specification alone would have lost the wake-up.
class HazardObserver {
 public:
  /// `queues` listens already. Both references must outlive the run.
  HazardObserver(observe::Probes& probes, const CqObserver& queues);
  HazardObserver(const HazardObserver&) = delete;
  HazardObserver& operator=(const HazardObserver&) = delete;

  /// In the order in which they first happened.
  [[nodiscard]] const std::vector<report::HazardResult>& results() const { return counts_.results(); }

 private:
  void onHazard(const observe::HazardEvent& event);
  void onCq(const observe::CqEvent& event);
  [[nodiscard]] bool isPolled(const observe::HazardEvent& event) const;

  const CqObserver& queues_;
  std::vector<observe::HazardEvent> undecided_;  // neither polled nor slept on; one a queue at most
  HazardCounts counts_;
};

}  // namespace hca::observers

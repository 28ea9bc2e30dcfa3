// All observers of a run, and the part of the result that they know.
#pragma once

#include "sim/observers/async_observer.h"
#include "sim/observers/cq_observer.h"
#include "sim/observers/hazard_observer.h"
#include "sim/observers/interrupt_observer.h"
#include "sim/observers/latency_observer.h"

namespace hca::observers {

class ObserverSet {
 public:
  /// `probes` must outlive the run.
  explicit ObserverSet(observe::Probes& probes);

  [[nodiscard]] LatencyObserver& latency() { return latency_; }
  [[nodiscard]] CqObserver& queues() { return queues_; }

  /// Call when the run is over. Fills cqs, vectors, asyncEvents and hazards of `result`, and adds lost wake-ups to its
  /// failures.
  void collect(const InterruptObserver::VectorMap& completionVector, report::Result& result);

 private:
  LatencyObserver latency_;
  CqObserver queues_;
  HazardObserver hazards_;
  InterruptObserver interrupts_;
  AsyncObserver async_;
};

}  // namespace hca::observers

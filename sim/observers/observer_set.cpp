#include "sim/observers/observer_set.h"

#include <iterator>
#include <utility>

namespace hca::observers {

ObserverSet::ObserverSet(observe::Probes& probes)
    : latency_(probes), queues_(probes), hazards_(probes, queues_), interrupts_(probes), async_(probes) {}

void ObserverSet::collect(const InterruptObserver::VectorMap& completionVector, report::Result& result) {
  std::vector<report::FailureResult> lost = queues_.finish();
  std::move(lost.begin(), lost.end(), std::back_inserter(result.failures));
  result.cqs = queues_.results();
  result.hazards = hazards_.results();
  result.vectors = interrupts_.results(completionVector);
  result.asyncEvents = async_.results();
}

}  // namespace hca::observers

#include "sim/observers/hazard_counts.h"

#include <algorithm>

namespace hca::observers {

void HazardCounts::add(const observe::HazardEvent& event) {
  const bool isLost = event.kind == observe::HazardEvent::Kind::kLostWakeUp;
  const char* kind = isLost ? "lost_wakeup" : "arm_after_entry";
  const auto known = std::find_if(results_.begin(), results_.end(), [&](const report::HazardResult& other) {
    return other.kind == kind && sameQueue(other, event);
  });
  if (known == results_.end()) {
    results_.push_back({kind, event.host, event.adapter, event.cq, 1, event.entries, event.time, event.time});
    return;
  }
  ++known->count;
  known->entries += event.entries;
  known->last = event.time;
}

}  // namespace hca::observers

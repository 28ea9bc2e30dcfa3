#include "sim/observers/hazard_observer.h"

#include <algorithm>

namespace hca::observers {

namespace {

using observe::HazardEvent;

}  // namespace

HazardObserver::HazardObserver(observe::Probes& probes, const CqObserver& queues) : queues_(queues) {
  probes.hazard.attach([this](const HazardEvent& event) { onHazard(event); });
  probes.cq.attach([this](const observe::CqEvent& event) { onCq(event); });
}

bool HazardObserver::isPolled(const HazardEvent& event) const {
  return queues_.polled(event.host, event.adapter, event.cq) >= event.firstEntry + event.entries;
}

// Software runs ahead of the arm that it posted: often it has decided already.
void HazardObserver::onHazard(const HazardEvent& event) {
  if (event.kind == HazardEvent::Kind::kLostWakeUp) return counts_.add(event);
  if (isPolled(event)) return;
  if (queues_.isAsleep(event.host, event.adapter, event.cq)) return counts_.add(event);
  const auto known = std::find_if(undecided_.begin(), undecided_.end(),
                                  [&](const HazardEvent& other) { return sameQueue(other, event); });
  if (known == undecided_.end()) {
    undecided_.push_back(event);
  } else {
    *known = event;
  }
}

void HazardObserver::onCq(const observe::CqEvent& event) {
  if (undecided_.empty()) return;
  const bool decides = event.action == observe::CqAction::kSleep || event.action == observe::CqAction::kPolled;
  if (!decides) return;
  const auto hazard = std::find_if(undecided_.begin(), undecided_.end(),
                                   [&](const HazardEvent& other) { return sameQueue(other, event); });
  if (hazard == undecided_.end()) return;
  const bool polled = isPolled(*hazard);
  if (!polled && event.action == observe::CqAction::kPolled) return;
  if (!polled) counts_.add(*hazard);
  undecided_.erase(hazard);
}

}  // namespace hca::observers

#include "sim/cosim/hazard_watch.h"

#include <algorithm>

namespace hca::cosim {

using observe::HazardEvent;
using observers::sameQueue;

HazardWatch::HazardWatch(observe::Probes& probes) {
  probes.hazard.attach([this](const HazardEvent& event) {
    const auto known = std::find_if(undecided_.begin(), undecided_.end(),
                                    [&](const HazardEvent& other) { return sameQueue(other, event); });
    if (known == undecided_.end()) {
      undecided_.push_back(event);
    } else {
      *known = event;
    }
  });
}

void HazardWatch::eventTaken(HostIndex host, AdapterIndex adapter, CqNumber cq, std::uint32_t taken) {
  const auto hazard = std::find_if(undecided_.begin(), undecided_.end(), [&](const HazardEvent& event) {
    return event.host == host && event.adapter == adapter && event.cq == cq;
  });
  if (hazard == undecided_.end()) return;
  constexpr std::uint32_t kIndexMask = 0xFFFFFF, kHalf = 0x800000;
  const auto end = static_cast<std::uint32_t>(hazard->firstEntry + hazard->entries);
  const std::uint32_t left = (end - taken) & kIndexMask;
  if (left != 0 && left < kHalf) counts_.add(*hazard);
  undecided_.erase(hazard);
}

}  // namespace hca::cosim

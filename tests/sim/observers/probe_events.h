// Shorthand for probe events in tests.
#pragma once

#include "models/observe/probes.h"

namespace hca::observers {

constexpr HostIndex kHost(1);
constexpr AdapterIndex kAdapter(0);
constexpr CqNumber kCq(0x81);

inline observe::CqEvent cqEvent(observe::CqAction action, std::int64_t ns, std::uint64_t index = 0, CqNumber cq = kCq) {
  return {action, nanoseconds(ns), kHost, kAdapter, cq, index};
}

inline void fire(observe::Probes& probes, const observe::CqEvent& event) {
  probes.cq.fire([&] { return event; });
}
inline void fire(observe::Probes& probes, observe::CqAction action, std::int64_t ns, std::uint64_t index = 0) {
  fire(probes, cqEvent(action, ns, index));
}
inline void fireHazard(observe::Probes& probes, std::int64_t ns, std::uint64_t first, std::uint64_t entries) {
  probes.hazard.fire([&] {
    return observe::HazardEvent{
        observe::HazardEvent::Kind::kArmAfterEntry, nanoseconds(ns), kHost, kAdapter, kCq, first, entries};
  });
}
inline void fireStage(observe::Probes& probes, observe::Stage stage, std::int64_t ns, std::uint64_t index,
                      std::uint32_t qp = 65) {
  probes.stage.fire([&] {
    return observe::StageEvent{
        stage, nanoseconds(ns), {HostIndex(0), kAdapter, QpNumber(qp), observe::WorkQueue::kSend, index}};
  });
}

}  // namespace hca::observers

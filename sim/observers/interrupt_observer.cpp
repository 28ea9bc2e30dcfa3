#include "sim/observers/interrupt_observer.h"

namespace hca::observers {

InterruptObserver::InterruptObserver(observe::Probes& probes) {
  probes.interrupt.attach([this](const observe::InterruptEvent& event) {
    if (event.action == observe::InterruptEvent::Action::kDelivered) {
      ++delivered_[{event.host, event.adapter, event.vector}];
    }
  });
}

std::vector<report::VectorResult> InterruptObserver::results(const VectorMap& completionVector) const {
  std::vector<report::VectorResult> results;
  for (const auto& [key, interrupts] : delivered_) {
    const auto& [host, adapter, vector] = key;
    results.push_back({host, adapter, completionVector(host, adapter, vector), vector, interrupts});
  }
  return results;
}

}  // namespace hca::observers

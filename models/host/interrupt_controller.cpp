#include "models/host/interrupt_controller.h"

namespace hca::host {

InterruptController::InterruptController(kernel::Calendar& calendar, observe::Probes& probes, HostIndex host,
                                         Time deliveryLatency)
    : calendar_(calendar),
      probes_(probes),
      host_(host),
      deliveryLatency_(deliveryLatency),
      requests_(calendar, kernel::Priority::kHostMemory, *this, &InterruptController::deliver) {}

MsiMessage InterruptController::allocate(pcie::InterruptSink& sink, InterruptVector vector, AdapterIndex adapter) {
  const auto data = static_cast<std::uint32_t>(entries_.size());
  Entry entry;
  entry.sink = &sink;
  entry.vector = vector;
  entry.adapter = adapter;
  entries_.push_back(entry);
  return {BusAddress(kMessageAddress), data};
}

void InterruptController::release(const pcie::InterruptSink& sink) {
  for (Entry& entry : entries_) {
    if (entry.sink == &sink) entry.sink = nullptr;
  }
}

const InterruptController::Entry* InterruptController::find(BusAddress address, std::uint32_t data) const {
  if (address.value() != kMessageAddress || data >= entries_.size()) return nullptr;
  return &entries_[data];
}

void InterruptController::onMessage(BusAddress address, std::uint32_t data) {
  const Entry* found = find(address, data);
  if (found == nullptr || found->sink == nullptr) {
    ++unknown_;
    return;
  }
  Entry& entry = entries_[data];
  if (entry.requested) {
    ++merged_;
    return;
  }
  entry.requested = true;
  requests_.send(calendar_.now() + deliveryLatency_, {data});
}

void InterruptController::deliver(Request& request) {
  Entry& entry = entries_[request.entry];
  entry.requested = false;
  if (entry.sink == nullptr) {
    ++unknown_;
    return;
  }
  ++entry.delivered;
  probes_.interrupt.fire([&] {
    return observe::InterruptEvent{observe::InterruptEvent::Action::kDelivered, calendar_.now(), host_, entry.adapter,
                                   entry.vector};
  });
  // The sink may allocate: no reference into `entries_` survives the call.
  entry.sink->onInterrupt(entry.vector);
}

std::uint64_t InterruptController::delivered(const MsiMessage& message) const {
  const Entry* entry = find(message.address, message.data);
  return entry == nullptr ? 0 : entry->delivered;
}

}  // namespace hca::host

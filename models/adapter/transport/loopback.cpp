#include "models/adapter/transport/loopback.h"

#include <utility>

namespace hca::adapter {

Loopback::Loopback(const AdapterContext& context, const DatapathConfig& config)
    : context_(context),
      config_(config),
      flights_(context.calendar, kernel::Priority::kAdapter, *this, &Loopback::arrive) {}

Time Loopback::transmit(network::Packet packet) {
  const Bytes size(network::wireBytes(packet));
  const Time start = later(freeAt_, context_.now());
  freeAt_ = start + transferTime(size, config_.loopbackRate);
  ++packets_;
  bytes_ += size;
  fire(observe::PacketEvent::Action::kSent, start, packet);
  flights_.send(freeAt_ + config_.loopbackLatency, std::move(packet));
  return freeAt_;
}

void Loopback::arrive(network::Packet& packet) {
  fire(observe::PacketEvent::Action::kReceived, context_.now(), packet);
  receiver_->onPacket(packet);
}

void Loopback::fire(observe::PacketEvent::Action action, Time time, const network::Packet& packet) const {
  context_.probes.packet.fire([&] {
    return observe::PacketEvent{action, time, context_.host, context_.adapter, &packet};
  });
}

}  // namespace hca::adapter

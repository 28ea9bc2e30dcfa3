#include "models/network/link_direction.h"

#include <cassert>
#include <utility>

#include "models/network/packet_layout.h"

namespace hca::network {

LinkDirection::LinkDirection(kernel::Calendar& calendar, observe::Probes& probes, const NetworkConfig& config,
                             const LinkState& state)
    : calendar_(calendar),
      probes_(probes),
      config_(config),
      state_(state),
      flights_(calendar, kernel::Priority::kNetwork, *this, &LinkDirection::arrive) {}

void LinkDirection::attach(const LinkEnd& from, const LinkEnd& to) {
  from_ = from;
  to_ = to;
}

Time LinkDirection::transmit(Packet&& packet) {
  assert(to_.receiver != nullptr);
  const Bytes size(wireBytes(packet));
  const Time start = freeAt();
  const Time duration = transferTime(size, config_.rate);
  freeAt_ = start + duration;
  ++counters_.packets;
  counters_.bytes += size;
  counters_.busy += duration;
  fire(observe::PacketEvent::Action::kSent, start, from_, packet);
  Time arrival = (to_.forwards ? start : freeAt_ + config_.receiveLatency) + config_.propagation;
  onTheWay_ += size;
  const Fault fault = faults_.isActive() ? injectFaults(packet, arrival) : Fault();
  // Of several on the way the later ones are announced as those before them arrive.
  if (flights_.next() == nullptr) to_.receiver->expect(packet);
  Flight& flight = flights_.place(arrival);
  flight.packet = std::move(packet);
  flight.changes = state_.changes;
  flight.wasUp = state_.isUp;
  flight.lost = fault.lose;
  return freeAt_;
}

// Whether a packet is delivered is decided when it would arrive; what else happens on its way, when it leaves.
Fault LinkDirection::injectFaults(Packet& packet, Time& arrival) {
  const Fault fault = faults_.next();
  if (fault.lose) return fault;
  if (fault.corrupt) {
    packet.corrupted = true;
    ++counters_.corrupted;
  }
  // AETH[31:24], InfiniBand volume 1, 9.7.5.2: a NAK with the last of the reserved codes.
  constexpr std::uint8_t kReservedNak = 0x7F;
  if (fault.distort) packet.syndrome = kReservedNak;
  if (fault.hold) {
    arrival = arrival + faults_.delayTime();
    ++counters_.held;
  }
  if (fault.duplicate) {
    onTheWay_ += Bytes(wireBytes(packet));
    flights_.send(arrival, {packet.clone(), state_.changes, state_.isUp});
    arrival = arrival + faults_.delayTime();
    ++counters_.duplicated;
  }
  return fault;
}

// The one place that decides whether a packet is lost.
LinkDirection::Fate LinkDirection::fate(const Flight& flight) const {
  if (!flight.wasUp || flight.changes != state_.changes) return Fate::kLinkDown;
  if (flight.lost) return Fate::kLost;
  // Ports are promiscuous: which raw packets are whose, flow rules say.
  if (to_.forwards || flight.packet.service == Service::kRaw) return Fate::kDelivered;
  const Route& route = flight.packet.route;
  const PortIdentity& port = to_.identity;
  const bool isOurs = route.linkLayer == LinkLayer::kInfiniBand
                          ? port.answersTo(route.destinationLid)
                          : route.destinationGid == port.gid || route.destinationGid == port.ipv4Gid;
  return isOurs || isMulticast(route) ? Fate::kDelivered : Fate::kUnknownDestination;
}

void LinkDirection::arrive(Flight& flight) {
  if (const Flight* next = flights_.next()) to_.receiver->expect(next->packet);
  onTheWay_ = onTheWay_ - Bytes(wireBytes(flight.packet));
  const Time seen = to_.forwards ? calendar_.now() : calendar_.now() - config_.receiveLatency;
  switch (fate(flight)) {
    case Fate::kDelivered:
      fire(observe::PacketEvent::Action::kReceived, seen, to_, flight.packet);
      return to_.receiver->onPacket(flight.packet);
    case Fate::kLinkDown:
      ++counters_.droppedDown;
      break;
    case Fate::kLost:
      ++counters_.lost;
      break;
    case Fate::kUnknownDestination:
      ++counters_.droppedDestination;
      break;
  }
  fire(observe::PacketEvent::Action::kDropped, seen, to_, flight.packet);
}

void LinkDirection::fire(observe::PacketEvent::Action action, Time time, const LinkEnd& end,
                         const Packet& packet) const {
  probes_.packet.fire([&] { return observe::PacketEvent{action, time, end.identity.host, end.adapter, &packet}; });
}

}  // namespace hca::network

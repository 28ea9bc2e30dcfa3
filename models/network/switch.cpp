#include "models/network/switch.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "models/network/packet_layout.h"

namespace hca::network {

Switch::Switch(kernel::Calendar& calendar, observe::Probes& probes, const SwitchConfig& config, std::uint32_t ports,
               HostIndex self)
    : calendar_(calendar),
      probes_(probes),
      config_(config),
      self_(self),
      ports_(ports),
      crossings_(calendar, kernel::Priority::kNetwork, *this, &Switch::forward) {
  for (std::uint32_t i = 0; i < ports; ++i) {
    ports_[i].owner = this;
    ports_[i].number = i;
  }
}

void Switch::connect(std::uint32_t port, const PortIdentity& neighbour, PacketSender& sender, BitsPerSecond rate) {
  ports_[port].sender = &sender;
  ports_[port].rate = rate;
  fastest_ = std::max(fastest_, rate);
  setLids(neighbour, port);
  addRoute(neighbour.gid, port);
  addRoute(neighbour.ipv4Gid, port);
}

void Switch::setLids(const PortIdentity& neighbour, std::uint32_t port) {
  const std::size_t first = neighbour.lid.value(), end = first + (std::size_t{1} << neighbour.lmc);
  if (portOfLid_.size() < end) portOfLid_.resize(end, kNoPort);
  for (std::size_t lid = first; lid < end; ++lid) portOfLid_[lid] = port;
}

void Switch::changeLids(std::uint32_t port, const PortIdentity& before, const PortIdentity& now) {
  setLids(before, kNoPort);
  setLids(now, port);
}

void Switch::addRoute(const Gid& gid, std::uint32_t port) {
  const auto at = std::lower_bound(routes_.begin(), routes_.end(), gid,
                                   [](const GidRoute& route, const Gid& wanted) { return route.gid < wanted; });
  routes_.insert(at, {gid, port});
}

std::uint32_t Switch::portOf(const Route& route) const {
  if (route.linkLayer == LinkLayer::kInfiniBand) {
    const std::size_t lid = route.destinationLid.value();
    return lid < portOfLid_.size() ? portOfLid_[lid] : kNoPort;
  }
  const auto at = std::lower_bound(routes_.begin(), routes_.end(), route.destinationGid,
                                   [](const GidRoute& candidate, const Gid& wanted) { return candidate.gid < wanted; });
  return at != routes_.end() && at->gid == route.destinationGid ? at->port : kNoPort;
}

void Switch::enter(std::uint32_t port, Packet& packet) {
  const Time fill = fillTime(ports_[port], packet);
  Crossing& crossing = crossings_.place(calendar_.now() + config_.latency + fill);
  crossing.packet = std::move(packet);
  crossing.from = port;
}

// How long a packet that comes in slowly has to wait so that it doesn't run dry on its way out.
Time Switch::fillTime(const Port& from, const Packet& packet) const {
  if (from.rate >= fastest_) return Time();
  BitsPerSecond fastest = fastest_;
  if (!isMulticast(packet.route)) {
    const std::uint32_t to = portOf(packet.route);
    fastest = to == kNoPort ? from.rate : ports_[to].rate;
  }
  if (from.rate >= fastest) return Time();
  const Bytes size(wireBytes(packet));
  return transferTime(size, from.rate) - transferTime(size, fastest);
}

// The packet stands before its output port, now: nothing that is earlier can still come.
void Switch::forward(Crossing& crossing) {
  if (isMulticast(crossing.packet.route)) return replicate(crossing);
  const std::uint32_t to = portOf(crossing.packet.route);
  // IEEE 802.1Q, 8.8.3: a frame for a station that nobody knows goes everywhere.
  if (to == kNoPort && crossing.packet.service == Service::kRaw) return replicate(crossing);
  if (to == kNoPort) return drop(ports_[crossing.from].counters.droppedDestination, crossing.packet);
  enqueue(ports_[to], std::move(crossing.packet));
}

void Switch::replicate(const Crossing& crossing) {
  for (Port& port : ports_) {
    if (port.number != crossing.from && port.sender != nullptr) enqueue(port, crossing.packet.clone());
  }
}

void Switch::enqueue(Port& port, Packet&& packet) {
  assert(port.sender != nullptr);
  if (port.waiting.empty() && port.sender->freeAt() <= calendar_.now()) return sendOut(port, std::move(packet));
  const Bytes size(wireBytes(packet));
  if (port.waitingBytes + size > config_.buffer) return drop(port.counters.droppedBuffer, packet);
  port.waitingBytes += size;
  port.counters.highWater = std::max(port.counters.highWater, port.waitingBytes);
  port.waiting.push(std::move(packet));
  if (port.waiting.size() == 1)
    calendar_.schedule(port.sender->freeAt(), kernel::Priority::kNetwork, *this, port.number);
}

// The port is free and something waits for it.
void Switch::onCalendar(std::uint64_t number) {
  Port& port = ports_[number];
  Packet packet = port.waiting.pop();
  port.waitingBytes = port.waitingBytes - Bytes(wireBytes(packet));
  sendOut(port, std::move(packet));
  if (!port.waiting.empty()) {
    calendar_.schedule(port.sender->freeAt(), kernel::Priority::kNetwork, *this, number);
  }
}

void Switch::sendOut(Port& port, Packet&& packet) {
  ++port.counters.forwarded;
  port.sender->transmit(std::move(packet));
}

void Switch::drop(std::uint64_t& counter, const Packet& packet) {
  ++counter;
  probes_.packet.fire([&] {
    return observe::PacketEvent{observe::PacketEvent::Action::kDropped, calendar_.now(), self_, AdapterIndex(0),
                                &packet};
  });
}

}  // namespace hca::network

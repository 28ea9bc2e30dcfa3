#include "models/adapter/transport/egress_pipeline.h"

#include <cstring>
#include <utility>

#include "models/adapter/responder/message_rules.h"
#include "models/network/ethernet_frame.h"
#include "models/network/packet_layout.h"

namespace hca::adapter {

namespace {
constexpr unsigned kPieceBits = 16;
}  // namespace

EgressPipeline::EgressPipeline(const AdapterContext& context, const DatapathConfig& config, const RouteBuilder& routes,
                               bool movePayload, CachePort& cache)
    : context_(context), config_(config), routes_(routes), movePayload_(movePayload), cache_(cache) {}

void EgressPipeline::addPort(network::PacketSender& wire, Loopback& loopback) {
  ports_.push_back(std::make_unique<Port>(static_cast<std::uint8_t>(ports_.size() + 1), context_.calendar,
                                          config_.egressBuffer, wire, loopback));
}

std::uint32_t EgressPipeline::allocate() {
  if (freeSlots_.empty()) {
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t index = freeSlots_.back();
  freeSlots_.pop_back();
  return index;
}

void EgressPipeline::send(QueuePair& qp, EgressQueue& queue, network::Packet&& packet,
                          const std::vector<Segment>& segments, EgressListener* listener) {
  Port& port = portOf(qp);
  port.buffer.reserve(packet.payloadLength);
  const bool waitsForNothing = queue.head == EgressQueue::kNone && segments.empty() && !cache_.isLimited();
  if (waitsForNothing) return transmit(std::move(packet), port, qp, listener);
  const std::uint32_t index = allocate();
  Slot& slot = slots_[index];
  slot.port = qp.attributes.path.port;
  slot.packet = std::move(packet);
  slot.qp = &qp;
  slot.queue = &queue;
  slot.listener = listener;
  slot.next = EgressQueue::kNone;
  slot.faulted = false;
  if (queue.head == EgressQueue::kNone) {
    queue.head = index;
  } else {
    slots_[queue.tail].next = index;
  }
  queue.tail = index;
  if (cache_.waits(*this, index)) {
    slot.readsPending = 1;
    untranslated_[index] = segments;
    return;
  }
  gather(index, segments);
  if (slot.readsPending == 0) drain(queue);
}

void EgressPipeline::onCacheReady(std::uint64_t token) {
  const auto index = static_cast<std::uint32_t>(token);
  const auto found = untranslated_.find(index);
  const std::vector<Segment> segments = std::move(found->second);
  untranslated_.erase(found);
  Slot& slot = slots_[index];
  slot.readsPending = 0;
  if (slot.queue == nullptr) return free(index);
  gather(index, segments);
  if (slot.readsPending == 0) drain(*slot.queue);
}

void EgressPipeline::gather(std::uint32_t index, const std::vector<Segment>& segments) {
  Slot& slot = slots_[index];
  slot.readsPending = static_cast<std::uint32_t>(segments.size());
  slot.offsets.clear();
  if (segments.empty()) return;
  // A raw packet is moved always: its addresses are in it.
  const bool moved = movePayload_ || slot.packet.service == network::Service::kRaw;
  std::uint32_t offset = slot.packet.payloadLength;
  for (const Segment& segment : segments) offset -= segment.length;
  if (moved && slot.packet.payload.empty()) slot.packet.payload = context_.pool.acquire(slot.packet.payloadLength);
  for (std::size_t piece = 0; piece < segments.size(); ++piece) {
    slot.offsets.push_back(offset);
    offset += segments[piece].length;
    pcie::DmaRead read;
    read.address = segments[piece].address;
    read.length = segments[piece].length;
    read.traffic = pcie::Traffic::kPayload;
    read.timingOnly = !moved;
    read.deliverAfter = context_.clock.span(config_.payloadCycles);
    read.client = this;
    read.token = (std::uint64_t{index} << kPieceBits) | piece;
    context_.dma.read(read);
  }
}

void EgressPipeline::onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) {
  const auto index = static_cast<std::uint32_t>(token >> kPieceBits);
  Slot& slot = slots_[index];
  if (status != host::DmaStatus::kOk) {
    slot.faulted = true;
  } else if (!data.empty()) {
    const std::uint32_t offset = slot.offsets[token & ((1U << kPieceBits) - 1)];
    std::memcpy(slot.packet.payload.mutableView().data() + offset, data.data(), data.size());
  }
  if (--slot.readsPending > 0) return;
  if (endsMessage(slot.packet.operation)) {
    context_.probes.stage.fire([&] {
      return observe::StageEvent{observe::Stage::kPayloadFetched, context_.now(), slot.packet.request};
    });
  }
  if (slot.queue == nullptr) return free(index);
  drain(*slot.queue);
}

void EgressPipeline::drain(EgressQueue& queue) {
  while (queue.head != EgressQueue::kNone) {
    const std::uint32_t index = queue.head;
    Slot& slot = slots_[index];
    if (slot.readsPending > 0) return;
    if (slot.faulted) {
      QueuePair& qp = *slot.qp;
      EgressListener* listener = slot.listener;
      const std::uint32_t psn = slot.packet.psn;
      cancel(queue);
      if (listener != nullptr) listener->onPayloadUnreadable(qp, psn);
      return;
    }
    queue.head = slot.next;
    QueuePair& qp = *slot.qp;
    EgressListener* listener = slot.listener;
    transmit(std::move(slot.packet), portOf(slot), qp, listener);
    freeSlots_.push_back(index);
  }
}

void EgressPipeline::transmit(network::Packet&& packet, Port& port, QueuePair& qp, EgressListener* listener) {
  const std::uint32_t bytes = packet.payloadLength;
  const std::uint32_t psn = packet.psn;
  const bool ackRequest = packet.ackRequest;
  const Time lastBit = route(std::move(packet), port);
  port.buffer.releaseAt(lastBit, bytes);
  if (listener != nullptr) listener->onPacketSent(qp, psn, ackRequest, lastBit);
}

Time EgressPipeline::route(network::Packet&& packet, Port& port) {
  if (packet.service == network::Service::kRaw) return routeRaw(std::move(packet), port);
  if (routes_.leadsBack(packet.route, port.number)) return port.loopback.transmit(std::move(packet));
  const bool hasMembersHere =
      network::isMulticast(packet.route) && groups_->members(packet.route.destinationGid) != nullptr;
  if (hasMembersHere) {
    network::Packet copy = packet.clone();
    copy.looped = true;
    port.loopback.transmit(std::move(copy));
  }
  return port.wire.transmit(std::move(packet));
}

// A frame that a queue of this port wants comes back, whatever its address: the port's own steering sees what it sends.
// One for a single station goes nowhere else then; nor does one for the port itself, wanted or not.
Time EgressPipeline::routeRaw(network::Packet&& packet, Port& port) {
  if (packet.insertNetworkChecksum || packet.insertTransportChecksum) {
    network::insertChecksums(packet.payload.mutableView(), packet.insertNetworkChecksum,
                             packet.insertTransportChecksum);
  }
  const network::EthernetFrame frame = network::readFrame(packet.payload.view());
  network::routeFrame(packet.route, packet.payload.view());
  const bool own = routes_.leadsBack(packet.route, port.number);
  if (!own && !steering_->takesLooped(frame, port.number, TransportDomainNumber(packet.transportDomain))) {
    return port.wire.transmit(std::move(packet));
  }
  const bool group = (frame.destination[0] & 1) != 0;
  if (!group) {
    packet.looped = true;
    return port.loopback.transmit(std::move(packet));
  }
  network::Packet copy = packet.clone();
  copy.looped = true;
  port.loopback.transmit(std::move(copy));
  return port.wire.transmit(std::move(packet));
}

void EgressPipeline::cancel(EgressQueue& queue) {
  std::uint32_t index = queue.head;
  queue = EgressQueue{};
  while (index != EgressQueue::kNone) {
    Slot& slot = slots_[index];
    const std::uint32_t next = slot.next;
    slot.queue = nullptr;
    if (slot.readsPending == 0) free(index);
    index = next;
  }
}

void EgressPipeline::free(std::uint32_t index) {
  Slot& slot = slots_[index];
  slot.packet.payload = {};
  freeSlots_.push_back(index);
  portOf(slot).buffer.release(slot.packet.payloadLength);
}

}  // namespace hca::adapter

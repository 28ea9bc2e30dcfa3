#include "models/network/packet_codec.h"

#include <algorithm>
#include <cstring>

#include "models/network/crc.h"
#include "models/network/invariant_fields.h"
#include "models/network/ipv4_checksum.h"
#include "models/network/packet_layout.h"
#include "models/wire/packet_headers.h"

namespace hca::network {
namespace {

using Bytes = std::vector<std::uint8_t>;
using wire::Be16;
using wire::Be24;
using wire::Be32;
using wire::Be64;

constexpr std::uint16_t kIpv4Identification = 0;  // means nothing in a datagram that is never fragmented

template <class Header>
void append(Bytes& bytes, const Header& header) {
  const ByteView view = bytesOf(header);
  bytes.insert(bytes.end(), view.begin(), view.end());
}

/// Appends the low `count` bytes of `value`, least significant first, as checksums go.
void appendLittleEndian(Bytes& bytes, std::uint32_t value, unsigned count) {
  for (unsigned i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

Encapsulation encapsulationOf(const Route& route) {
  if (route.linkLayer == LinkLayer::kInfiniBand)
    return route.globalRoute ? Encapsulation::kGlobal : Encapsulation::kLocal;
  return usesIpv4(route) ? Encapsulation::kIpv4 : Encapsulation::kIpv6;
}

void appendGlobalRoute(Bytes& bytes, const Route& route, std::uint8_t nextHeader, std::size_t payloadLength) {
  using Header = wire::GlobalRouteHeader;
  Header header;
  header.versionClassFlow =
      Be32(Header::Version::make(Header::kVersion) | Header::TrafficClass::make(route.trafficClass) |
           Header::FlowLabel::make(route.flowLabel & Header::FlowLabel::kMax));
  header.payloadLength = Be16(static_cast<std::uint16_t>(payloadLength));
  header.nextHeader = nextHeader;
  header.hopLimit = route.hopLimit;
  std::memcpy(header.sourceGid, route.sourceGid.data(), sizeof header.sourceGid);
  std::memcpy(header.destinationGid, route.destinationGid.data(), sizeof header.destinationGid);
  append(bytes, header);
}

void appendInfiniBandRoute(Bytes& bytes, const Route& route, std::size_t transport) {
  using Header = wire::LocalRouteHeader;
  const std::size_t global = route.globalRoute ? sizeof(wire::GlobalRouteHeader) : 0;
  Header header;
  Header::VirtualLane::set(header.laneVersion, route.virtualLane & 0xF);
  Header::ServiceLevel::set(header.levelNext, route.serviceLevel & 0xF);
  Header::NextHeader::set(header.levelNext, route.globalRoute ? Header::kNextGlobal : Header::kNextTransport);
  header.destinationLid = Be16(route.destinationLid.value());
  header.length = Be16(static_cast<std::uint16_t>((sizeof header + global + transport) / 4));
  header.sourceLid = Be16(route.sourceLid.value());
  append(bytes, header);
  if (route.globalRoute) appendGlobalRoute(bytes, route, wire::GlobalRouteHeader::kNextTransport, transport);
}

void appendIpv4(Bytes& bytes, const Route& route, std::size_t payloadLength) {
  wire::Ipv4Header header;
  header.trafficClass = route.trafficClass;
  header.totalLength = Be16(static_cast<std::uint16_t>(sizeof header + payloadLength));
  header.identification = Be16(kIpv4Identification);
  header.fragment = Be16(wire::Ipv4Header::kDontFragment);
  header.timeToLive = route.hopLimit;
  header.protocol = wire::Ipv4Header::kUdp;
  std::memcpy(header.source, route.sourceGid.data() + 12, sizeof header.source);
  std::memcpy(header.destination, route.destinationGid.data() + 12, sizeof header.destination);
  header.checksum = Be16(ipv4Checksum(bytesOf(header)));
  append(bytes, header);
}

void appendRoceRoute(Bytes& bytes, const Route& route, std::size_t transport) {
  const bool ipv4 = usesIpv4(route);
  const std::size_t datagram = sizeof(wire::UdpHeader) + transport;
  wire::EthernetHeader ethernet;
  std::memcpy(ethernet.destination, route.destinationMac.data(), sizeof ethernet.destination);
  std::memcpy(ethernet.source, route.sourceMac.data(), sizeof ethernet.source);
  ethernet.type = Be16(ipv4 ? wire::EthernetHeader::kIpv4 : wire::EthernetHeader::kIpv6);
  append(bytes, ethernet);
  if (ipv4) {
    appendIpv4(bytes, route, datagram);
  } else {
    appendGlobalRoute(bytes, route, wire::Ipv4Header::kUdp, datagram);
  }
  wire::UdpHeader udp;
  udp.sourcePort = Be16(route.udpSourcePort);
  udp.destinationPort = Be16(wire::UdpHeader::kRocePort);
  udp.length = Be16(static_cast<std::uint16_t>(datagram));
  append(bytes, udp);
}

void appendTransport(Bytes& bytes, const Packet& packet) {
  using Header = wire::BaseTransportHeader;
  Header header;
  Header::Service::set(header.opcode, static_cast<std::uint8_t>(packet.service));
  Header::Operation::set(header.opcode, static_cast<std::uint8_t>(packet.operation));
  Header::Solicited::set(header.flags, packet.solicited);
  Header::Migrated::set(header.flags, packet.migrated);
  Header::PadCount::set(header.flags, static_cast<std::uint8_t>(padBytes(packet.payloadLength)));
  header.partitionKey = Be16(packet.partitionKey);
  header.destinationQp = Be24(packet.destinationQp.value());
  Header::AckRequest::set(header.acknowledge, packet.ackRequest);
  header.psn = Be24(packet.psn);
  append(bytes, header);
}

void appendExtensions(Bytes& bytes, const Packet& packet) {
  if (packet.service == Service::kUd) {
    wire::DatagramHeader header;
    header.queueKey = Be32(packet.queueKey);
    header.sourceQp = Be24(packet.sourceQp.value());
    append(bytes, header);
  }
  if (carriesXrcHeader(packet.service, packet.operation)) {
    wire::XrcHeader header;
    header.sharedQueue = Be24(packet.sharedQueue.value());
    append(bytes, header);
  }
  if (carriesDynamicHeader(packet.service, packet.operation)) {
    wire::DynamicHeader header;
    header.accessKey = Be64(packet.accessKey);
    header.sourceQp = Be24(packet.sourceQp.value());
    header.connection = Be32(packet.connection);
    append(bytes, header);
  }
  if (carriesReth(packet.operation)) {
    append(bytes, wire::RdmaHeader{Be64(packet.remoteAddress), Be32(packet.remoteKey.value()), Be32(packet.dmaLength)});
  }
  if (carriesAtomic(packet.operation)) {
    append(bytes, wire::AtomicHeader{wire::Be64Unaligned(packet.remoteAddress), Be32(packet.remoteKey.value()),
                                     wire::Be64Unaligned(packet.swapOrAdd), wire::Be64Unaligned(packet.compare)});
  }
  if (carriesAeth(packet.operation)) append(bytes, wire::AckHeader{packet.syndrome, Be24(packet.msn)});
  if (packet.operation == Operation::kAtomicAcknowledge) append(bytes, Be64(packet.atomicResult));
  if (carriesImmediate(packet.operation) || carriesInvalidate(packet.operation)) append(bytes, Be32(packet.immediate));
}

void appendPayload(Bytes& bytes, const Packet& packet) {
  const ByteView payload = packet.payload.view();
  const std::size_t moved = std::min<std::size_t>(payload.size(), packet.payloadLength);
  bytes.insert(bytes.end(), payload.data(), payload.data() + moved);
  bytes.resize(bytes.size() + (packet.payloadLength - moved) + padBytes(packet.payloadLength), 0);
}

}  // namespace

bool encode(const Packet& packet, std::vector<std::uint8_t>& bytes) {
  bytes.clear();
  if (packet.service == Service::kRaw) {
    const ByteView frame = packet.payload.view();
    bytes.assign(frame.begin(), frame.end());
    bytes.resize(std::max<std::size_t>(packet.payloadLength, wire::EthernetHeader::kMinimumFrame), 0);
    return true;
  }
  if (!isDefined(packet.service, packet.operation)) return false;
  const bool infiniBand = packet.route.linkLayer == LinkLayer::kInfiniBand;
  if (infiniBand) {
    appendInfiniBandRoute(bytes, packet.route, transportBytes(packet));
  } else {
    appendRoceRoute(bytes, packet.route, transportBytes(packet));
  }
  appendTransport(bytes, packet);
  appendExtensions(bytes, packet);
  appendPayload(bytes, packet);
  const std::uint32_t invariant = invariantCrc(bytes, encapsulationOf(packet.route));
  appendLittleEndian(bytes, packet.corrupted ? ~invariant : invariant, wire::kInvariantCrcSize);
  if (infiniBand) {
    VariantCrc variant;
    variant.add(bytes);
    appendLittleEndian(bytes, variant.value(), wire::kVariantCrcSize);
  } else if (bytes.size() < wire::EthernetHeader::kMinimumFrame) {
    bytes.resize(wire::EthernetHeader::kMinimumFrame, 0);
  }
  return true;
}

}  // namespace hca::network

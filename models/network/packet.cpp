#include "models/network/packet.h"

#include <algorithm>

#include "models/network/packet_layout.h"

namespace hca::network {
namespace {

constexpr std::size_t kFrameCheckSequence = 4;
constexpr std::size_t kPreambleAndGap = 8 + 12;

}  // namespace

std::uint32_t wireBytes(const Packet& packet) {
  if (packet.service == Service::kRaw) {
    const std::size_t frame = std::max<std::size_t>(packet.payloadLength, wire::EthernetHeader::kMinimumFrame);
    return static_cast<std::uint32_t>(frame + kFrameCheckSequence + kPreambleAndGap);
  }
  std::size_t bytes = transportBytes(packet);
  if (packet.route.linkLayer == LinkLayer::kInfiniBand) {
    bytes += sizeof(wire::LocalRouteHeader) + wire::kVariantCrcSize;
    if (packet.route.globalRoute) bytes += sizeof(wire::GlobalRouteHeader);
    return static_cast<std::uint32_t>(bytes);
  }
  bytes += sizeof(wire::EthernetHeader) + sizeof(wire::UdpHeader);
  bytes += usesIpv4(packet.route) ? sizeof(wire::Ipv4Header) : sizeof(wire::GlobalRouteHeader);
  bytes = std::max(bytes, wire::EthernetHeader::kMinimumFrame);
  return static_cast<std::uint32_t>(bytes + kFrameCheckSequence + kPreambleAndGap);
}

}  // namespace hca::network

#include "models/network/invariant_fields.h"

#include <array>
#include <cassert>
#include <cstring>

#include "models/network/crc.h"
#include "models/wire/packet_headers.h"

namespace hca::network {
namespace {

constexpr std::uint8_t kOnes = 0xFF;
constexpr std::size_t kLocalRouteSize = sizeof(wire::LocalRouteHeader);
constexpr std::size_t kIpOffset = sizeof(wire::EthernetHeader);
constexpr std::size_t kLongestRoute = kIpOffset + sizeof(wire::GlobalRouteHeader) + sizeof(wire::UdpHeader);

void maskGlobalRoute(std::uint8_t* header) {
  header[0] |= 0x0F;  // all but the version
  std::memset(header + 1, kOnes, 3);
  header[offsetof(wire::GlobalRouteHeader, hopLimit)] = kOnes;
}

void maskIpv4(std::uint8_t* header) {
  header[offsetof(wire::Ipv4Header, trafficClass)] = kOnes;
  header[offsetof(wire::Ipv4Header, timeToLive)] = kOnes;
  std::memset(header + offsetof(wire::Ipv4Header, checksum), kOnes, sizeof(wire::Be16));
}

void maskUdp(std::uint8_t* header) {
  std::memset(header + offsetof(wire::UdpHeader, checksum), kOnes, sizeof(wire::Be16));
}

}  // namespace

std::size_t transportOffset(Encapsulation encapsulation) {
  switch (encapsulation) {
    case Encapsulation::kLocal:
      return kLocalRouteSize;
    case Encapsulation::kGlobal:
      return kLocalRouteSize + sizeof(wire::GlobalRouteHeader);
    case Encapsulation::kIpv4:
      return kIpOffset + sizeof(wire::Ipv4Header) + sizeof(wire::UdpHeader);
    case Encapsulation::kIpv6:
      return kLongestRoute;
  }
  return 0;
}

std::uint32_t invariantCrc(ByteView bytes, Encapsulation encapsulation) {
  const std::size_t transport = transportOffset(encapsulation);
  const std::size_t masked = transport + sizeof(wire::BaseTransportHeader);
  assert(bytes.size() >= masked);
  std::array<std::uint8_t, kLongestRoute + sizeof(wire::BaseTransportHeader)> head{};
  std::memcpy(head.data(), bytes.data(), masked);
  std::size_t begin = 0;  // of what is left of the headers
  switch (encapsulation) {
    case Encapsulation::kLocal:
      head[0] |= 0xF0;
      break;  // virtual lane
    case Encapsulation::kGlobal:
      std::memset(head.data(), kOnes, kLocalRouteSize);
      maskGlobalRoute(head.data() + kLocalRouteSize);
      break;
    case Encapsulation::kIpv4:
    case Encapsulation::kIpv6:
      begin = kIpOffset - kLocalRouteSize;
      std::memset(head.data() + begin, kOnes, kLocalRouteSize);
      if (encapsulation == Encapsulation::kIpv4) {
        maskIpv4(head.data() + kIpOffset);
      } else {
        maskGlobalRoute(head.data() + kIpOffset);
      }
      maskUdp(head.data() + transport - sizeof(wire::UdpHeader));
      break;
  }
  head[transport + offsetof(wire::BaseTransportHeader, congestion)] = kOnes;

  InvariantCrc crc;
  crc.add({head.data() + begin, masked - begin});
  crc.add(bytes.subview(masked, bytes.size() - masked));
  return crc.value();
}

}  // namespace hca::network

// The global route header as a datagram's receiver finds it in its buffer.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "models/network/packet.h"
#include "models/wire/packet_headers.h"

namespace hca::adapter {

constexpr std::uint32_t kGlobalRouteSize = sizeof(wire::GlobalRouteHeader);

/// InfiniBand volume 1, 8.3, and 11.4.1.2: the first 40 bytes of the buffer. With RoCE v2 over IPv6 the same layout.
[[nodiscard]] inline std::array<std::uint8_t, kGlobalRouteSize> globalRouteHeader(const network::Packet& packet) {
  using Header = wire::GlobalRouteHeader;
  constexpr std::uint32_t kTransportOverhead = 12 + 8 + 4;  // BTH, DETH, invariant CRC
  Header header;
  header.versionClassFlow =
      wire::Be32(Header::Version::make(Header::kVersion) | Header::TrafficClass::make(packet.route.trafficClass) |
                 Header::FlowLabel::make(packet.route.flowLabel));
  const std::uint32_t padded = (packet.payloadLength + 3) / 4 * 4;
  header.payloadLength = wire::Be16(static_cast<std::uint16_t>(padded + kTransportOverhead));
  header.nextHeader = Header::kNextTransport;
  header.hopLimit = packet.route.hopLimit;
  std::copy(packet.route.sourceGid.begin(), packet.route.sourceGid.end(), std::begin(header.sourceGid));
  std::copy(packet.route.destinationGid.begin(), packet.route.destinationGid.end(), std::begin(header.destinationGid));
  std::array<std::uint8_t, kGlobalRouteSize> bytes;
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

}  // namespace hca::adapter

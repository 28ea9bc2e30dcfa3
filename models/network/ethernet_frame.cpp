#include "models/network/ethernet_frame.h"

#include <algorithm>

#include "models/network/ipv4_checksum.h"
#include "models/wire/endian.h"
#include "models/wire/packet_headers.h"

namespace hca::network {
namespace {

constexpr std::uint16_t kVlanType = 0x8100;
constexpr std::uint8_t kTcp = 6;
constexpr std::size_t kIpv4Header = sizeof(wire::Ipv4Header);
constexpr std::size_t kIpv6Header = sizeof(wire::GlobalRouteHeader);

std::uint16_t wordAt(ByteView bytes, std::size_t at) { return wire::loadBigEndian<std::uint16_t>(bytes.data() + at); }

std::uint32_t sumOf(ByteView bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) sum += wordAt(bytes, i);
  if (bytes.size() % 2 != 0) sum += static_cast<std::uint32_t>(bytes[bytes.size() - 1] << 8);
  return sum;
}

std::uint16_t folded(std::uint32_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

constexpr std::size_t kUdpChecksum = 6, kTcpChecksum = 16;

// `addresses`: of the pseudo header (RFC 768, RFC 9293, RFC 8200 section 8.1).
void readTransport(EthernetFrame& frame, ByteView segment, std::uint8_t protocol, ByteView addresses) {
  constexpr std::size_t kUdpHeader = sizeof(wire::UdpHeader), kTcpHeader = 20, kTcpFlags = 12;
  const bool udp = protocol == wire::Ipv4Header::kUdp && segment.size() >= kUdpHeader;
  const bool tcp = protocol == kTcp && segment.size() >= kTcpHeader;
  if (!udp && !tcp) return;
  frame.sourcePort = wordAt(segment, 0);
  frame.destinationPort = wordAt(segment, 2);
  if (tcp) frame.tcpFlags = wordAt(segment, kTcpFlags) & 0x1FF;
  frame.transport = udp ? EthernetFrame::Transport::kUdp : EthernetFrame::Transport::kTcp;
  const bool none = udp && wordAt(segment, kUdpChecksum) == 0;
  const std::uint32_t sum = sumOf(segment) + sumOf(addresses) + protocol + static_cast<std::uint32_t>(segment.size());
  frame.transportChecksumOk = !frame.cut && (none || folded(sum) == 0xFFFF);
}

void readIpv4(EthernetFrame& frame, ByteView packet) {
  constexpr std::uint16_t kFragment = 0x3FFF;  // more fragments, or an offset
  if (packet.size() < kIpv4Header) return;
  const std::size_t header = (packet[0] & 0xFU) * 4U;
  const std::size_t total = wordAt(packet, 2);
  if (packet[0] >> 4 != 4 || header < kIpv4Header || header > packet.size()) return;
  frame.network = EthernetFrame::Network::kIpv4;
  frame.cut = total < header || total > packet.size();
  frame.networkChecksumOk = !frame.cut && ipv4Checksum(packet.subview(0, header)) == 0;
  frame.trafficClass = packet[1];
  frame.hopLimit = packet[8];
  frame.protocol = packet[9];
  std::copy_n(packet.data() + 12, 4, frame.networkSource.begin() + 12);
  std::copy_n(packet.data() + 16, 4, frame.networkDestination.begin() + 12);
  frame.fragment = (wordAt(packet, 6) & kFragment) != 0;
  if (frame.fragment) return;
  const std::size_t length = frame.cut ? packet.size() - header : total - header;
  readTransport(frame, packet.subview(header, length), packet[9], packet.subview(12, 8));
}

void readIpv6(EthernetFrame& frame, ByteView packet) {
  if (packet.size() < kIpv6Header || packet[0] >> 4 != 6) return;
  const std::size_t length = wordAt(packet, 4);
  frame.network = EthernetFrame::Network::kIpv6;
  frame.cut = length > packet.size() - kIpv6Header;
  frame.networkChecksumOk = !frame.cut;
  frame.trafficClass = static_cast<std::uint8_t>(wordAt(packet, 0) >> 4);
  frame.flowLabel = (packet[1] & 0xFU) << 16 | wordAt(packet, 2);
  frame.protocol = packet[6];
  frame.hopLimit = packet[7];
  std::copy_n(packet.data() + 8, 16, frame.networkSource.begin());
  std::copy_n(packet.data() + 24, 16, frame.networkDestination.begin());
  const std::size_t there = frame.cut ? packet.size() - kIpv6Header : length;
  readTransport(frame, packet.subview(kIpv6Header, there), packet[6], packet.subview(8, 32));
}

}  // namespace

EthernetFrame readFrame(ByteView bytes) {
  EthernetFrame frame;
  if (bytes.size() < EthernetFrame::kHeaderSize) return frame;
  std::copy_n(bytes.data(), 6, frame.destination.begin());
  std::copy_n(bytes.data() + 6, 6, frame.source.begin());
  std::size_t at = EthernetFrame::kHeaderSize;
  frame.type = wordAt(bytes, at - 2);
  if (frame.type == kVlanType && bytes.size() >= at + EthernetFrame::kTagSize) {
    frame.tagged = true;
    frame.tag = wordAt(bytes, at);
    frame.type = wordAt(bytes, at + 2);
    at += EthernetFrame::kTagSize;
  }
  const ByteView rest = bytes.subview(at, bytes.size() - at);
  frame.checksum = folded(sumOf(rest));
  if (frame.type == wire::EthernetHeader::kIpv4) readIpv4(frame, rest);
  if (frame.type == wire::EthernetHeader::kIpv6) readIpv6(frame, rest);
  return frame;
}

void insertChecksums(MutableByteView bytes, bool ofNetwork, bool ofTransport) {
  const EthernetFrame frame = readFrame(bytes);
  if (frame.network == EthernetFrame::Network::kOther) return;
  const bool isIpv4 = frame.network == EthernetFrame::Network::kIpv4;
  const std::size_t start = EthernetFrame::kHeaderSize + (frame.tagged ? EthernetFrame::kTagSize : 0);
  const std::size_t header = isIpv4 ? (bytes[start] & 0xFU) * 4U : kIpv6Header;
  if (ofNetwork && isIpv4) {
    constexpr std::size_t kChecksum = 10;
    std::uint8_t* const place = bytes.data() + start + kChecksum;
    wire::storeBigEndian(place, std::uint16_t{0});
    wire::storeBigEndian(place, ipv4Checksum(ByteView(bytes).subview(start, header)));
  }
  if (!ofTransport || frame.cut || frame.transport == EthernetFrame::Transport::kOther) return;
  const bool udp = frame.transport == EthernetFrame::Transport::kUdp;
  const std::size_t length = isIpv4 ? wordAt(bytes, start + 2) - header : wordAt(bytes, start + 4);
  const ByteView addresses = ByteView(bytes).subview(start + (isIpv4 ? 12 : 8), isIpv4 ? 8 : 32);
  std::uint8_t* const place = bytes.data() + start + header + (udp ? kUdpChecksum : kTcpChecksum);
  wire::storeBigEndian(place, std::uint16_t{0});
  const std::uint32_t sum = sumOf(ByteView(bytes).subview(start + header, length)) + sumOf(addresses) + frame.protocol +
                            static_cast<std::uint32_t>(length);
  const auto checksum = static_cast<std::uint16_t>(~folded(sum));
  wire::storeBigEndian(place, udp && checksum == 0 ? std::uint16_t{0xFFFF} : checksum);
}

void routeFrame(Route& route, ByteView bytes) {
  const EthernetFrame frame = readFrame(bytes);
  const std::array<std::uint8_t, 6>& mac = frame.destination;
  route.globalRoute = true;
  route.destinationMac = mac;
  route.sourceMac = frame.source;
  const bool group = (mac[0] & 1) != 0;
  if (group) {
    route.destinationGid = {0xFF, 0x02};
    std::copy(mac.begin(), mac.end(), route.destinationGid.begin() + 10);
    return;
  }
  // Modified EUI-64 (RFC 4291, appendix A), as ports make theirs.
  route.destinationGid = {0xFE,   0x80,   0,    0,    0,      0,      0,     0, static_cast<std::uint8_t>(mac[0] ^ 2),
                          mac[1], mac[2], 0xFF, 0xFE, mac[3], mac[4], mac[5]};
}

}  // namespace hca::network

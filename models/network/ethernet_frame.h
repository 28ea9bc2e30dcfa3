// A frame of a raw packet queue pair, read as far as a receiving adapter looks into it.
#pragma once

#include <array>
#include <cstdint>

#include "models/base/byte_view.h"
#include "models/network/packet.h"

namespace hca::network {

/// Frames: from the destination address on, without the frame check sequence.
struct EthernetFrame {
  enum class Network : std::uint8_t { kOther, kIpv4, kIpv6 };
  enum class Transport : std::uint8_t { kOther, kTcp, kUdp };

  static constexpr std::size_t kHeaderSize = 14;
  static constexpr std::size_t kTagSize = 4;
  /// Largest that is sent or received: 9216 bytes behind the header, and a tag.
  static constexpr std::uint32_t kLargest = 9216 + kHeaderSize + kTagSize;

  std::array<std::uint8_t, 6> destination{};
  std::array<std::uint8_t, 6> source{};
  bool tagged = false;     ///< IEEE 802.1Q, type 0x8100
  std::uint16_t tag = 0;   ///< priority [15:13], drop eligible [12], VLAN [11:0]
  std::uint16_t type = 0;  ///< behind the tag, if there is one
  Network network = Network::kOther;
  Transport transport = Transport::kOther;
  bool cut = false;  ///< the network header tells of more bytes than there are: neither checksum is right
  // Of the network and transport header, if they are whole.
  std::array<std::uint8_t, 16> networkSource{};       ///< of IPv4 the last four bytes
  std::array<std::uint8_t, 16> networkDestination{};  ///< likewise
  std::uint8_t trafficClass = 0;                      ///< of IPv4 the type of service
  std::uint8_t hopLimit = 0;                          ///< of IPv4 the time to live
  std::uint8_t protocol = 0;                          ///< of IPv6 the next header
  std::uint32_t flowLabel = 0;                        ///< of IPv6
  bool fragment = false;                              ///< of IPv4
  std::uint16_t sourcePort = 0;
  std::uint16_t destinationPort = 0;
  std::uint16_t tcpFlags = 0;        ///< 9 bits
  bool networkChecksumOk = false;    ///< of IPv4; true of IPv6, which has none
  bool transportChecksumOk = false;  ///< of TCP or UDP that is no fragment; a UDP checksum of 0 is none and right
  std::uint16_t checksum = 0;        ///< one's complement sum of all behind type and tag
};

/// Reads a frame; one shorter than its header is all zeros. A header that is cut off is none.
[[nodiscard]] EthernetFrame readFrame(ByteView bytes);

/// Writes the checksum of the IPv4 header, or that of the TCP or UDP segment, where `frame` has such a thing; what is
/// there counts for nothing. A fragment has none of the second kind. UDP says 0xFFFF where the sum is 0 (RFC 768).
void insertChecksums(MutableByteView frame, bool ofNetwork, bool ofTransport);

/// Fills the fields of `route` by which Ethernet finds the way from the addresses of the frame. Ports are known by the
/// GID that follows from their address; a group of stations is a group of ports.
void routeFrame(Route& route, ByteView frame);

}  // namespace hca::network

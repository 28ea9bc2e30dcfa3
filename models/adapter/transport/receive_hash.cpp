#include "models/adapter/transport/receive_hash.h"

#include <vector>

namespace hca::adapter {
namespace {

using network::EthernetFrame;

void append(std::vector<std::uint8_t>& input, ByteView bytes) { input.insert(input.end(), bytes.begin(), bytes.end()); }

void append(std::vector<std::uint8_t>& input, std::uint16_t port) {
  input.push_back(static_cast<std::uint8_t>(port >> 8));
  input.push_back(static_cast<std::uint8_t>(port));
}

// In place of source and destination what both directions have alike: or, and exclusive or (Linux
// include/uapi/linux/ethtool.h, RXH_XFRM_SYM_OR_XOR, which is what these adapters do).
template <class Value>
void mix(Value& source, Value& destination) {
  const Value any = source | destination;
  destination = source ^ destination;
  source = any;
}

// The exclusive or of all bytes, inverted.
std::uint32_t invertedXor(const std::vector<std::uint8_t>& input) {
  std::uint8_t value = 0;
  for (const std::uint8_t byte : input) value = static_cast<std::uint8_t>(value ^ byte);
  return static_cast<std::uint8_t>(~value);
}

}  // namespace

std::uint32_t toeplitzHash(ByteView key, ByteView input) {
  std::uint32_t hash = 0;
  for (std::size_t at = 0; at < input.size(); ++at) {
    std::uint64_t window = 0;  // the 40 bits of the key from here on
    for (std::size_t i = 0; i < 5; ++i) window = window << 8 | (at + i < key.size() ? key[at + i] : 0);
    for (unsigned bit = 0; bit < 8; ++bit) {
      if ((input[at] & (0x80U >> bit)) != 0) hash ^= static_cast<std::uint32_t>(window >> (8 - bit));
    }
  }
  return hash;
}

ReceiveHash::Result ReceiveHash::of(const EthernetFrame& frame) const {
  constexpr std::uint8_t kIpv4Type = 1U << 2, kIpv6Type = 2U << 2, kTcpType = 1U << 6, kUdpType = 2U << 6;
  if (function == Function::kNone || fields == 0) return {};
  if (frame.network != (ipv6 ? EthernetFrame::Network::kIpv6 : EthernetFrame::Network::kIpv4)) return {};
  const bool withPorts = (fields & kPorts) != 0;
  if (withPorts && frame.transport != (udp ? EthernetFrame::Transport::kUdp : EthernetFrame::Transport::kTcp)) {
    return {};
  }
  std::array<std::uint8_t, 16> source = frame.networkSource, destination = frame.networkDestination;
  std::uint16_t sourcePort = frame.sourcePort, destinationPort = frame.destinationPort;
  if (symmetric && (fields & kAddresses) == kAddresses) {
    for (std::size_t i = 0; i < source.size(); ++i) mix(source[i], destination[i]);
  }
  if (symmetric && (fields & kPorts) == kPorts) mix(sourcePort, destinationPort);
  const std::size_t size = ipv6 ? 16 : 4;
  std::vector<std::uint8_t> input;
  if ((fields & kSource) != 0) append(input, ByteView(source.data(), 16).subview(16 - size, size));
  if ((fields & kDestination) != 0) append(input, ByteView(destination.data(), 16).subview(16 - size, size));
  if ((fields & kSourcePort) != 0) append(input, sourcePort);
  if ((fields & kDestinationPort) != 0) append(input, destinationPort);
  const std::uint8_t transport = !withPorts ? std::uint8_t{0} : udp ? kUdpType : kTcpType;
  const auto type = static_cast<std::uint8_t>((ipv6 ? kIpv6Type : kIpv4Type) | transport);
  const std::uint32_t value = function == Function::kToeplitz
                                  ? toeplitzHash({key.data(), key.size()}, {input.data(), input.size()})
                                  : invertedXor(input);
  return {value, type};
}

}  // namespace hca::adapter

#include "sim/cosim/uverbs/flow_specs.h"

#include <arpa/inet.h>
#include <rdma/ib_user_verbs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

// The kernel's structures have members without names.
#pragma GCC diagnostic ignored "-Wpedantic"

namespace hca::cosim {
namespace {

using wire::FlowMatch;

// enum ib_flow_spec_type
enum SpecType : std::uint32_t {
  kEthernet = 0x20,
  kIpv4 = 0x30,
  kIpv6 = 0x31,
  kTcp = 0x40,
  kUdp = 0x41,
  kTag = 0x1000,
  kDrop = 0x1001,
};
constexpr std::uint32_t kIpv4Type = 0x0800, kIpv6Type = 0x86DD;
constexpr std::uint8_t kTcpProtocol = 6, kUdpProtocol = 17;
constexpr std::uint32_t kTagEnd = 1U << 24;

std::uint32_t word(const std::uint8_t* bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return ntohl(value);
}
std::uint32_t half(const std::uint8_t* bytes) {
  std::uint16_t value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return ntohs(value);
}

template <class Block, std::size_t kSize>
void putBytes(MutableByteView key, const std::uint8_t (&bytes)[kSize], std::size_t place = 0) {
  std::copy(std::begin(bytes), std::end(bytes), Block::mutableView(key).data() + place);
}

void putEthernet(const ib_uverbs_flow_eth_filter& filter, MutableByteView key) {
  FlowMatch::DestinationHigh::set(key, word(filter.dst_mac));
  FlowMatch::DestinationLow::set(key, half(filter.dst_mac + 4));
  FlowMatch::SourceHigh::set(key, word(filter.src_mac));
  FlowMatch::SourceLow::set(key, half(filter.src_mac + 4));
  FlowMatch::Type::set(key, ntohs(filter.ether_type));
  const std::uint32_t tag = ntohs(filter.vlan_tag);
  FlowMatch::Vlan::set(key, tag & 0xFFF);
  FlowMatch::DropEligible::set(key, (tag >> 12 & 1) != 0);
  FlowMatch::Priority::set(key, tag >> 13);
}

void putIpv4(const ib_uverbs_flow_ipv4_filter& filter, MutableByteView key) {
  constexpr std::size_t kPlace = 12;
  std::memcpy(FlowMatch::NetworkSource::mutableView(key).data() + kPlace, &filter.src_ip, sizeof filter.src_ip);
  std::memcpy(FlowMatch::NetworkDestination::mutableView(key).data() + kPlace, &filter.dst_ip, sizeof filter.dst_ip);
  FlowMatch::Dscp::set(key, filter.tos >> 2);
  FlowMatch::Ecn::set(key, filter.tos & 3U);
  FlowMatch::Protocol::set(key, filter.proto);
}

void putIpv6(const ib_uverbs_flow_ipv6_filter& filter, MutableByteView key) {
  putBytes<FlowMatch::NetworkSource>(key, filter.src_ip);
  putBytes<FlowMatch::NetworkDestination>(key, filter.dst_ip);
  FlowMatch::Dscp::set(key, filter.traffic_class >> 2);
  FlowMatch::Ecn::set(key, filter.traffic_class & 3U);
  FlowMatch::Protocol::set(key, filter.next_hdr);
  FlowMatch::FlowLabel::set(key, ntohl(filter.flow_label) & 0xFFFFF);
}

/// Reads one specification after the other.
class Reader {
 public:
  explicit Reader(ParsedFlow& flow) : flow_(flow) {}

  int read(std::uint32_t type, ByteView spec) {
    switch (type) {
      case kEthernet:
        return readEthernet(spec);
      case kIpv4:
        return readIpv4(spec);
      case kIpv6:
        return readIpv6(spec);
      case kTcp:
      case kUdp:
        return readTransport(type == kTcp, spec);
      case kTag:
        return readTag(spec);
      case kDrop:
        flow_.drops = true;
        return 0;
      default:
        // Inner headers, tunnels, security associations, counters.
        return EOPNOTSUPP;
    }
  }
  /// Whether what was read can be of one frame (is_valid_ethertype).
  [[nodiscard]] int finish() const {
    if (type_ != 0 && network_ != 0 && type_ != network_) return EINVAL;
    return 0;
  }

 private:
  template <class Spec>
  static bool take(ByteView bytes, Spec& spec) {
    if (bytes.size() != sizeof spec) return false;
    std::memcpy(&spec, bytes.data(), sizeof spec);
    return true;
  }
  [[nodiscard]] MutableByteView mask() { return {flow_.mask.data(), flow_.mask.size()}; }
  [[nodiscard]] MutableByteView value() { return {flow_.value.data(), flow_.value.size()}; }

  int readEthernet(ByteView bytes) {
    ib_uverbs_flow_spec_eth spec{};
    if (!take(bytes, spec)) return EINVAL;
    putEthernet(spec.mask, mask());
    putEthernet(spec.val, value());
    if (spec.mask.vlan_tag != 0) {
      FlowMatch::Tagged::set(mask(), true);
      FlowMatch::Tagged::set(value(), true);
    }
    constexpr std::uint16_t kWhole = 0xFFFF;
    if (spec.mask.ether_type == kWhole) type_ = ntohs(spec.val.ether_type);
    flow_.isGroupAlone = (spec.mask.dst_mac[0] & spec.val.dst_mac[0] & 1) != 0;
    return 0;
  }

  // Of a network protocol by its version, as adapters find it.
  int beginNetwork(std::uint32_t version, std::uint32_t type) {
    if (network_ != 0) return EINVAL;
    network_ = type;
    FlowMatch::IpVersion::set(mask(), FlowMatch::IpVersion::kMax);
    FlowMatch::IpVersion::set(value(), version);
    return 0;
  }

  int readIpv4(ByteView bytes) {
    ib_uverbs_flow_spec_ipv4 spec{};
    if (!take(bytes, spec)) return EINVAL;
    if (spec.mask.ttl != 0 || spec.mask.flags != 0) return EOPNOTSUPP;
    if (const int error = beginNetwork(4, kIpv4Type); error != 0) return error;
    putIpv4(spec.mask, mask());
    putIpv4(spec.val, value());
    return 0;
  }

  int readIpv6(ByteView bytes) {
    ib_uverbs_flow_spec_ipv6 spec{};
    if (!take(bytes, spec)) return EINVAL;
    if (spec.mask.hop_limit != 0) return EOPNOTSUPP;
    if (const int error = beginNetwork(6, kIpv6Type); error != 0) return error;
    putIpv6(spec.mask, mask());
    putIpv6(spec.val, value());
    return 0;
  }

  int readTransport(bool tcp, ByteView bytes) {
    ib_uverbs_flow_spec_tcp_udp spec{};
    if (!take(bytes, spec)) return EINVAL;
    const std::uint8_t protocol = tcp ? kTcpProtocol : kUdpProtocol;
    const bool contradicts =
        FlowMatch::Protocol::get(mask()) == FlowMatch::Protocol::kMax && FlowMatch::Protocol::get(value()) != protocol;
    if (contradicts) return EINVAL;
    FlowMatch::Protocol::set(mask(), FlowMatch::Protocol::kMax);
    FlowMatch::Protocol::set(value(), protocol);
    const auto put = [tcp](const ib_uverbs_flow_tcp_udp_filter& filter, MutableByteView key) {
      if (tcp) {
        FlowMatch::TcpSource::set(key, ntohs(filter.src_port));
        FlowMatch::TcpDestination::set(key, ntohs(filter.dst_port));
      } else {
        FlowMatch::UdpSource::set(key, ntohs(filter.src_port));
        FlowMatch::UdpDestination::set(key, ntohs(filter.dst_port));
      }
    };
    put(spec.mask, mask());
    put(spec.val, value());
    return 0;
  }

  int readTag(ByteView bytes) {
    ib_uverbs_flow_spec_action_tag spec{};
    if (!take(bytes, spec) || spec.tag_id >= kTagEnd) return EINVAL;
    flow_.flowTag = spec.tag_id;
    return 0;
  }

  ParsedFlow& flow_;
  std::uint32_t type_ = 0;     // that an Ethernet specification asks for
  std::uint32_t network_ = 0;  // that a network specification implies
};

}  // namespace

int parseFlowSpecs(ByteView specs, std::size_t count, ParsedFlow& flow) {
  Reader reader(flow);
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    ib_uverbs_flow_spec_hdr header{};
    constexpr std::size_t kHeader = 8;
    if (specs.size() - at < kHeader) return EINVAL;
    std::memcpy(&header, specs.data() + at, kHeader);
    if (header.size < kHeader || header.size > specs.size() - at || header.reserved != 0) return EINVAL;
    if (const int error = reader.read(header.type, specs.subview(at, header.size)); error != 0) return error;
    at += header.size;
  }
  if (at != specs.size()) return EINVAL;
  flow.isGroupAlone = flow.isGroupAlone && count == 1;
  return reader.finish();
}

}  // namespace hca::cosim

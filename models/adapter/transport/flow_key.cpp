#include "models/adapter/transport/flow_key.h"

#include <algorithm>

#include "models/wire/ethernet_commands.h"

namespace hca::adapter {
namespace {

using network::EthernetFrame;
using wire::FlowMatch;

std::uint32_t highOf(const std::array<std::uint8_t, 6>& mac) {
  return std::uint32_t{mac[0]} << 24 | std::uint32_t{mac[1]} << 16 | std::uint32_t{mac[2]} << 8 | mac[3];
}
std::uint32_t lowOf(const std::array<std::uint8_t, 6>& mac) { return std::uint32_t{mac[4]} << 8 | mac[5]; }

void putLink(const EthernetFrame& frame, MutableByteView key) {
  FlowMatch::SourceHigh::set(key, highOf(frame.source));
  FlowMatch::SourceLow::set(key, lowOf(frame.source));
  FlowMatch::Type::set(key, frame.type);
  FlowMatch::DestinationHigh::set(key, highOf(frame.destination));
  FlowMatch::DestinationLow::set(key, lowOf(frame.destination));
  FlowMatch::Tagged::set(key, frame.tagged);
  FlowMatch::Priority::set(key, frame.tag >> 13);
  FlowMatch::DropEligible::set(key, (frame.tag >> 12 & 1) != 0);
  FlowMatch::Vlan::set(key, frame.tag & 0xFFFU);
}

void putNetwork(const EthernetFrame& frame, MutableByteView key) {
  if (frame.network == EthernetFrame::Network::kOther) return;
  FlowMatch::IpVersion::set(key, frame.network == EthernetFrame::Network::kIpv4 ? 4 : 6);
  FlowMatch::Protocol::set(key, frame.protocol);
  FlowMatch::Dscp::set(key, frame.trafficClass >> 2);
  FlowMatch::Ecn::set(key, frame.trafficClass & 3U);
  FlowMatch::Fragment::set(key, frame.fragment);
  FlowMatch::HopLimit::set(key, frame.hopLimit);
  FlowMatch::FlowLabel::set(key, frame.flowLabel);
  std::copy(frame.networkSource.begin(), frame.networkSource.end(), FlowMatch::NetworkSource::mutableView(key).data());
  std::copy(frame.networkDestination.begin(), frame.networkDestination.end(),
            FlowMatch::NetworkDestination::mutableView(key).data());
}

void putTransport(const EthernetFrame& frame, MutableByteView key) {
  if (frame.transport == EthernetFrame::Transport::kTcp) {
    FlowMatch::TcpSource::set(key, frame.sourcePort);
    FlowMatch::TcpDestination::set(key, frame.destinationPort);
    FlowMatch::TcpFlags::set(key, frame.tcpFlags);
  } else if (frame.transport == EthernetFrame::Transport::kUdp) {
    FlowMatch::UdpSource::set(key, frame.sourcePort);
    FlowMatch::UdpDestination::set(key, frame.destinationPort);
  }
}

}  // namespace

FlowKey flowKeyOf(const EthernetFrame& frame) {
  FlowKey key{};
  const MutableByteView view{key.data(), key.size()};
  putLink(frame, view);
  putNetwork(frame, view);
  putTransport(frame, view);
  return key;
}

const FlowKey& knownFlowFields() {
  static const FlowKey known = [] {
    EthernetFrame all;
    all.source.fill(0xFF);
    all.destination.fill(0xFF);
    all.tagged = all.fragment = true;
    all.tag = all.type = all.sourcePort = all.destinationPort = all.tcpFlags = 0xFFFF;
    all.networkSource.fill(0xFF);
    all.networkDestination.fill(0xFF);
    all.trafficClass = all.hopLimit = all.protocol = 0xFF;
    all.flowLabel = 0xFFFFF;
    all.network = EthernetFrame::Network::kIpv4;
    all.transport = EthernetFrame::Transport::kTcp;
    all.tcpFlags = 0x1FF;
    FlowKey fields = flowKeyOf(all);
    const MutableByteView view{fields.data(), fields.size()};
    FlowMatch::IpVersion::set(view, FlowMatch::IpVersion::kMax);
    FlowMatch::UdpSource::set(view, FlowMatch::UdpSource::kMax);
    FlowMatch::UdpDestination::set(view, FlowMatch::UdpDestination::kMax);
    return fields;
  }();
  return known;
}

}  // namespace hca::adapter

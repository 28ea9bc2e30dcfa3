// Flow specifications as programs write them.
#include "sim/cosim/uverbs/flow_specs.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <rdma/ib_user_verbs.h>

#include <cerrno>
#include <cstring>
#include <vector>

#pragma GCC diagnostic ignored "-Wpedantic"

namespace hca::cosim {
namespace {

using wire::FlowMatch;

/// Specifications one behind the other.
struct Specs {
  template <class Spec>
  Specs& add(std::uint32_t type, Spec spec) {
    spec.type = type;
    spec.size = sizeof spec;
    const auto* const from = reinterpret_cast<const std::uint8_t*>(&spec);
    bytes.insert(bytes.end(), from, from + sizeof spec);
    ++count;
    return *this;
  }
  int parse() { return parseFlowSpecs({bytes.data(), bytes.size()}, count, flow); }
  [[nodiscard]] ByteView mask() const { return {flow.mask.data(), flow.mask.size()}; }
  [[nodiscard]] ByteView value() const { return {flow.value.data(), flow.value.size()}; }
  std::vector<std::uint8_t> bytes;
  std::size_t count = 0;
  ParsedFlow flow;
};

ib_uverbs_flow_spec_eth ethernet(std::uint16_t type, std::uint16_t typeMask = 0xFFFF) {
  ib_uverbs_flow_spec_eth spec{};
  spec.val.ether_type = htons(type);
  spec.mask.ether_type = htons(typeMask);
  return spec;
}

TEST(FlowSpecs, EthernetMatchesAddressesTypeAndTag) {
  ib_uverbs_flow_spec_eth spec = ethernet(0x0800);
  const std::uint8_t mac[6] = {0x24, 0x8A, 0x07, 0xA5, 0x28, 0xC8};
  std::memcpy(spec.val.dst_mac, mac, 6);
  std::memset(spec.mask.dst_mac, 0xFF, 6);
  spec.val.vlan_tag = htons(0x6005);
  spec.mask.vlan_tag = htons(0x0FFF);
  Specs specs;
  ASSERT_EQ(specs.add(0x20, spec).parse(), 0);
  EXPECT_EQ(FlowMatch::DestinationHigh::get(specs.value()), 0x248A07A5u);
  EXPECT_EQ(FlowMatch::DestinationLow::get(specs.mask()), 0xFFFFu);
  EXPECT_EQ(FlowMatch::SourceHigh::get(specs.mask()), 0u);
  EXPECT_TRUE(FlowMatch::Tagged::get(specs.mask()));
  EXPECT_TRUE(FlowMatch::Tagged::get(specs.value()));
  EXPECT_EQ(FlowMatch::Vlan::get(specs.value()), 5u);
  EXPECT_EQ(FlowMatch::Priority::get(specs.mask()), 0u);
  EXPECT_FALSE(specs.flow.isGroupAlone);
}

TEST(FlowSpecs, NetworkAndTransportOfAConnection) {
  ib_uverbs_flow_spec_ipv4 ip{};
  ip.val.src_ip = htonl(0x0A000001);
  ip.mask.src_ip = 0xFFFFFFFF;
  ip.val.tos = 0xB8;
  ip.mask.tos = 0xFC;
  ib_uverbs_flow_spec_tcp_udp udp{};
  udp.val.dst_port = htons(4791);
  udp.mask.dst_port = 0xFFFF;
  Specs specs;
  ASSERT_EQ(specs.add(0x20, ethernet(0x0800)).add(0x30, ip).add(0x41, udp).parse(), 0);
  EXPECT_EQ(FlowMatch::IpVersion::get(specs.value()), 4u);
  EXPECT_EQ(FlowMatch::NetworkSource::view(specs.value())[15], 1);
  EXPECT_EQ(FlowMatch::NetworkSource::view(specs.mask())[11], 0);
  EXPECT_EQ(FlowMatch::Dscp::get(specs.value()), 0xB8u >> 2);
  EXPECT_EQ(FlowMatch::Ecn::get(specs.mask()), 0u);
  EXPECT_EQ(FlowMatch::Protocol::get(specs.value()), 17u);
  EXPECT_EQ(FlowMatch::UdpDestination::get(specs.value()), 4791u);
  EXPECT_EQ(FlowMatch::TcpDestination::get(specs.mask()), 0u);
}

TEST(FlowSpecs, Ipv6WithItsFlowLabel) {
  ib_uverbs_flow_spec_ipv6 ip{};
  ip.val.flow_label = htonl(0x12345);
  ip.mask.flow_label = htonl(0xFFFFF);
  ip.val.dst_ip[0] = 0x20;
  ip.mask.dst_ip[0] = 0xFF;
  ip.val.next_hdr = 6;
  ip.mask.next_hdr = 0xFF;
  Specs specs;
  ASSERT_EQ(specs.add(0x31, ip).add(0x40, ib_uverbs_flow_spec_tcp_udp{}).parse(), 0);
  EXPECT_EQ(FlowMatch::FlowLabel::get(specs.value()), 0x12345u);
  EXPECT_EQ(FlowMatch::NetworkDestination::view(specs.mask())[0], 0xFF);
  EXPECT_EQ(FlowMatch::IpVersion::get(specs.value()), 6u);
}

TEST(FlowSpecs, Actions) {
  ib_uverbs_flow_spec_action_tag tag{};
  tag.tag_id = 0xABCDEF;
  Specs specs;
  ASSERT_EQ(specs.add(0x1000, tag).add(0x1001, ib_uverbs_flow_spec_action_drop{}).parse(), 0);
  EXPECT_EQ(specs.flow.flowTag, 0xABCDEFu);
  EXPECT_TRUE(specs.flow.drops);
  tag.tag_id = 1U << 24;
  EXPECT_EQ(Specs().add(0x1000, tag).parse(), EINVAL) << "24 bits";
  EXPECT_EQ(Specs().add(0x1003, ib_uverbs_flow_spec_action_count{}).parse(), EOPNOTSUPP) << "counters";
}

TEST(FlowSpecs, AGroupAloneIsTold) {
  ib_uverbs_flow_spec_eth spec{};
  spec.val.dst_mac[0] = spec.mask.dst_mac[0] = 1;
  Specs alone, more;
  ASSERT_EQ(alone.add(0x20, spec).parse(), 0);
  EXPECT_TRUE(alone.flow.isGroupAlone);
  ASSERT_EQ(more.add(0x20, spec).add(0x30, ib_uverbs_flow_spec_ipv4{}).parse(), 0);
  EXPECT_FALSE(more.flow.isGroupAlone);
}

TEST(FlowSpecs, WhatMakesNoSenseIsRefused) {
  const ib_uverbs_flow_spec_ipv4 ip{};
  EXPECT_EQ(Specs().add(0x20, ethernet(0x86DD)).add(0x30, ip).parse(), EINVAL) << "IPv4 in a frame of IPv6";
  EXPECT_EQ(Specs().add(0x20, ethernet(0x86DD, 0xFF00)).add(0x30, ip).parse(), 0) << "not the whole type";
  EXPECT_EQ(Specs().add(0x30, ip).add(0x31, ib_uverbs_flow_spec_ipv6{}).parse(), EINVAL) << "both";
  ib_uverbs_flow_spec_ipv4 ofUdp{};
  ofUdp.val.proto = 17;
  ofUdp.mask.proto = 0xFF;
  EXPECT_EQ(Specs().add(0x30, ofUdp).add(0x40, ib_uverbs_flow_spec_tcp_udp{}).parse(), EINVAL);
  ib_uverbs_flow_spec_ipv4 withTtl{};
  withTtl.mask.ttl = 0xFF;
  EXPECT_EQ(Specs().add(0x30, withTtl).parse(), EOPNOTSUPP);
  EXPECT_EQ(Specs().add(0x50, ip).parse(), EOPNOTSUPP) << "a tunnel";
  EXPECT_EQ(Specs().add(0x130, ip).parse(), EOPNOTSUPP) << "an inner header";
}

TEST(FlowSpecs, LengthsAreChecked) {
  Specs specs;
  specs.add(0x30, ib_uverbs_flow_spec_ipv4{});
  EXPECT_EQ(parseFlowSpecs({specs.bytes.data(), specs.bytes.size() - 1}, 1, specs.flow), EINVAL);
  EXPECT_EQ(parseFlowSpecs({specs.bytes.data(), 4}, 1, specs.flow), EINVAL);
  EXPECT_EQ(parseFlowSpecs({specs.bytes.data(), specs.bytes.size()}, 2, specs.flow), EINVAL);
  EXPECT_EQ(parseFlowSpecs({specs.bytes.data(), specs.bytes.size()}, 0, specs.flow), EINVAL);
  EXPECT_EQ(parseFlowSpecs({}, 0, specs.flow), 0);
  specs.bytes[4] = 0;  // of no size: it would never end
  specs.bytes[5] = 0;
  EXPECT_EQ(parseFlowSpecs({specs.bytes.data(), specs.bytes.size()}, 1, specs.flow), EINVAL);
}

}  // namespace
}  // namespace hca::cosim

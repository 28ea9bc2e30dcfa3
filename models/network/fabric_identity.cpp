#include "models/network/fabric_identity.h"

#include <cassert>
#include <stdexcept>

#include "models/network/packet_layout.h"

namespace hca::network {

namespace {

using Mac = std::array<std::uint8_t, 6>;

// 02: unicast, locally administered. Port 0 stands for the whole adapter.
Mac macOf(HostIndex host, std::uint32_t port) {
  return {0x02,
          0,
          0,
          static_cast<std::uint8_t>(host.value() >> 8),
          static_cast<std::uint8_t>(host.value()),
          static_cast<std::uint8_t>(port)};
}

// Modified EUI-64 (RFC 4291, appendix A): ff:fe in the middle, the universal/local bit inverted.
std::uint64_t eui64(const Mac& mac) {
  const std::array<std::uint8_t, 8> bytes = {
      static_cast<std::uint8_t>(mac[0] ^ 0x02), mac[1], mac[2], 0xFF, 0xFE, mac[3], mac[4], mac[5]};
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

Gid linkLocalGid(std::uint64_t guid) {
  Gid gid{0xFE, 0x80};
  for (unsigned i = 0; i < 8; ++i) gid[8 + i] = static_cast<std::uint8_t>(guid >> (56 - 8 * i));
  return gid;
}

Gid ipv4MappedGid(const Mac& mac) {
  Gid gid{};
  gid[10] = gid[11] = 0xFF;
  gid[12] = 10;
  for (unsigned i = 0; i < 3; ++i) gid[13 + i] = mac[3 + i];
  return gid;
}

}  // namespace

std::array<std::uint8_t, 6> macOf(const Gid& gid) {
  constexpr std::uint8_t kIpv4Multicast = 0xE0;
  constexpr std::uint8_t kIpv4MulticastMask = 0xF0;
  if (gid[0] == 0xFF) return {0x33, 0x33, gid[12], gid[13], gid[14], gid[15]};
  if (isIpv4Mapped(gid)) {
    if ((gid[12] & kIpv4MulticastMask) != kIpv4Multicast) return {0x02, 0, 0, gid[13], gid[14], gid[15]};
    return {0x01, 0x00, 0x5E, static_cast<std::uint8_t>(gid[13] & 0x7F), gid[14], gid[15]};
  }
  if (gid[0] != 0xFE || gid[1] != 0x80) return {};
  return {static_cast<std::uint8_t>(gid[8] ^ 0x02), gid[9], gid[10], gid[13], gid[14], gid[15]};
}

Lid multicastLid(const Gid& group) {
  constexpr unsigned kFirst = 0xC000;
  constexpr unsigned kCount = 0x3FFF;
  return Lid(static_cast<std::uint16_t>(kFirst + (unsigned{group[14]} << 8 | group[15]) % kCount));
}

FabricIdentity::FabricIdentity(std::uint32_t hosts, std::uint32_t portsPerHost, std::uint8_t lmc)
    : hosts_(hosts), ports_(portsPerHost), lmc_(lmc) {
  if (ports_ == 0 || ports_ > 255) throw std::invalid_argument("a host has 1 to 255 ports");
  if (hosts_ > (((kLastLid + 1) >> lmc_) - 1) / ports_)
    throw std::invalid_argument("more ports than local identifiers");
}

PortIdentity FabricIdentity::port(HostIndex host, std::uint32_t port) const {
  assert(host.value() < hosts_ && port >= 1 && port <= ports_);
  PortIdentity identity;
  identity.host = host;
  identity.port = port;
  identity.lid = Lid(static_cast<std::uint16_t>((1 + host.value() * ports_ + port - 1) << lmc_));
  identity.lmc = lmc_;
  identity.mac = macOf(host, port);
  identity.guid = eui64(identity.mac);
  identity.gid = linkLocalGid(identity.guid);
  identity.ipv4Gid = ipv4MappedGid(identity.mac);
  return identity;
}

std::uint64_t FabricIdentity::nodeGuid(HostIndex host) const { return eui64(macOf(host, 0)); }

bool FabricIdentity::contains(Lid lid) const {
  const std::uint32_t number = lid.value() >> lmc_;
  return number >= 1 && number <= hosts_ * ports_;
}

}  // namespace hca::network

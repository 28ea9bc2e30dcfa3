// Who is who on the fabric, without a subnet manager.
#pragma once

#include <array>
#include <cstdint>

#include "models/base/ids.h"
#include "models/network/packet.h"

namespace hca::network {

/// The addresses of one port.
struct PortIdentity {
  HostIndex host;
  std::uint32_t port = 1;             ///< of its host, counted from 1 as verbs do
  Lid lid;                            ///< InfiniBand local identifier, the first of 2^lmc
  std::uint8_t lmc = 0;               ///< LID mask control (InfiniBand Architecture volume 1, section 4.1.3)
  std::uint64_t guid = 0;             ///< EUI-64 of `mac`
  Gid gid{};                          ///< link-local prefix fe80::/64 and `guid`; GID 0 on either link layer
  Gid ipv4Gid{};                      ///< RoCE: ::ffff:10.x.y.z, of the port's address in 10.0.0.0/8
  std::array<std::uint8_t, 6> mac{};  ///< locally administered

  [[nodiscard]] bool answersTo(Lid wanted) const { return wanted.value() >> lmc == lid.value() >> lmc; }
};

/// The Ethernet address of the port with this GID, as neighbour discovery would find it: it follows from either GID of
/// a port of FabricIdentity. Of a multicast GID the group's (RFC 1112, RFC 2464). Zeros for any other.
[[nodiscard]] std::array<std::uint8_t, 6> macOf(const Gid& gid);

/// The multicast LID of a group. Nobody administers groups here: every port gets every multicast packet, so that the
/// LID only has to be one of a group.
[[nodiscard]] Lid multicastLid(const Gid& group);

/// Addresses as a pure function of host and port: host i, port p gets LID (1 + i * ports + p - 1) * 2^lmc, and its
/// GUID, GIDs and MAC address from i and p.
class FabricIdentity {
 public:
  /// Largest unicast LID (InfiniBand Architecture volume 1, section 4.1.3).
  static constexpr std::uint32_t kLastLid = 0xBFFF;

  /// Throws std::invalid_argument unless there are 1 to 255 ports a host and 2^lmc LIDs for every port.
  FabricIdentity(std::uint32_t hosts, std::uint32_t portsPerHost, std::uint8_t lmc = 0);

  /// Preconditions: host < hosts, 1 <= port <= portsPerHost.
  [[nodiscard]] PortIdentity port(HostIndex host, std::uint32_t port) const;
  /// GUID of the host's adapter as a whole (node_guid).
  [[nodiscard]] std::uint64_t nodeGuid(HostIndex host) const;
  /// Whether `lid` is a port's.
  [[nodiscard]] bool contains(Lid lid) const;

 private:
  std::uint32_t hosts_;
  std::uint32_t ports_;
  std::uint8_t lmc_;
};

}  // namespace hca::network

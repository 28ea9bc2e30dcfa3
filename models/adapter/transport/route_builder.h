// From a queue pair's address path to a packet's route.
#pragma once

#include <utility>
#include <vector>

#include "models/adapter/transport/qp_attributes.h"
#include "models/network/packet.h"

namespace hca::adapter {

/// What one port of the adapter is on the fabric.
struct PortAddress {
  network::LinkLayer linkLayer = network::LinkLayer::kInfiniBand;
  Lid lid;
  std::uint8_t lmc = 0;         ///< the port answers to 2^lmc LIDs from `lid` on
  network::Gid gid{};           ///< source of what it sends
  network::Gid linkLocalGid{};  ///< its other address, with RoCE
  std::array<std::uint8_t, 6> mac{};
  std::vector<std::uint16_t> partitionKeys{0xFFFF};  ///< by index; 0: none
};

/// Ports are numbered from 1, as verbs do.
class RouteBuilder {
 public:
  explicit RouteBuilder(std::vector<PortAddress> ports) : ports_(std::move(ports)) {}

  /// Writes the fields of `path` into the route, as constructed, of what leaves through `port`.
  void lead(network::Route& route, const AddressPath& path, std::uint8_t port) const {
    const PortAddress& from = ports_[port - 1U];
    route.linkLayer = from.linkLayer;
    route.sourceLid = Lid(static_cast<std::uint16_t>(from.lid.value() | (path.sourcePathBits & pathMask(port))));
    route.destinationLid = path.remoteLid;
    route.serviceLevel = path.serviceLevel;
    route.globalRoute = path.globalRoute || from.linkLayer == network::LinkLayer::kRoceV2;
    if (!route.globalRoute) return;
    route.sourceGid = from.gid;
    route.destinationGid = path.remoteGid;
    route.trafficClass = path.trafficClass;
    route.flowLabel = path.flowLabel;
    route.hopLimit = path.hopLimit;
    route.sourceMac = from.mac;
    route.destinationMac = path.remoteMac;
    if (path.udpSourcePort != 0) route.udpSourcePort = path.udpSourcePort;
  }
  /// The low bits of a LID that say which of the port's it is.
  [[nodiscard]] std::uint8_t pathMask(std::uint8_t port) const {
    return static_cast<std::uint8_t>((1U << ports_[port - 1U].lmc) - 1);
  }
  [[nodiscard]] std::size_t ports() const { return ports_.size(); }
  [[nodiscard]] const PortAddress& port(std::uint8_t port) const { return ports_[port - 1U]; }
  /// To change what an outside hand changes.
  [[nodiscard]] PortAddress& port(std::uint8_t port) { return ports_[port - 1U]; }
  /// The partition key that a queue pair with this path has; 0 where its entry of the table is empty.
  [[nodiscard]] std::uint16_t partitionKey(const AddressPath& path) const {
    const std::vector<std::uint16_t>& keys = ports_[path.port - 1U].partitionKeys;
    return path.partitionIndex < keys.size() ? keys[path.partitionIndex] : std::uint16_t{0};
  }
  /// Whether a route leads to the port through which it would leave. What is for another port of the same adapter goes
  /// over the wire, as hardware has it: only a port knows its own addresses.
  [[nodiscard]] bool leadsBack(const network::Route& route, std::uint8_t port) const {
    const PortAddress& self = ports_[port - 1U];
    if (route.linkLayer == network::LinkLayer::kInfiniBand)
      return route.destinationLid.value() >> self.lmc == self.lid.value() >> self.lmc;
    return route.destinationGid == self.gid || route.destinationGid == self.linkLocalGid;
  }

 private:
  std::vector<PortAddress> ports_;
};

}  // namespace hca::adapter

// From a queue pair's address path to a packet's route.
#pragma once

#include "models/adapter/transport/qp_attributes.h"
#include "models/network/packet.h"

namespace hca::adapter {

/// What one port of the adapter is on the fabric.
struct PortAddress {
  network::LinkLayer linkLayer = network::LinkLayer::kInfiniBand;
  Lid lid;
  network::Gid gid{};           ///< source of what it sends
  network::Gid linkLocalGid{};  ///< its other address, with RoCE
  std::array<std::uint8_t, 6> mac{};
  std::uint16_t partitionKey = 0xFFFF;
};

class RouteBuilder {
 public:
  explicit RouteBuilder(const PortAddress& port) : port_(port) {}

  /// Writes the fields of `path` into a route that is as constructed.
  void lead(network::Route& route, const AddressPath& path) const {
    route.linkLayer = port_.linkLayer;
    route.sourceLid = Lid(static_cast<std::uint16_t>(port_.lid.value() | path.sourcePathBits));
    route.destinationLid = path.remoteLid;
    route.serviceLevel = path.serviceLevel;
    route.globalRoute = path.globalRoute || port_.linkLayer == network::LinkLayer::kRoceV2;
    if (!route.globalRoute) return;
    route.sourceGid = port_.gid;
    route.destinationGid = path.remoteGid;
    route.trafficClass = path.trafficClass;
    route.flowLabel = path.flowLabel;
    route.hopLimit = path.hopLimit;
    route.sourceMac = port_.mac;
    route.destinationMac = path.remoteMac;
    if (path.udpSourcePort != 0) route.udpSourcePort = path.udpSourcePort;
  }
  [[nodiscard]] const PortAddress& port() const { return port_; }
  /// Whether a route leads to the port itself.
  [[nodiscard]] bool leadsBack(const network::Route& route) const {
    if (route.linkLayer == network::LinkLayer::kInfiniBand) return route.destinationLid == port_.lid;
    return route.destinationGid == port_.gid || route.destinationGid == port_.linkLocalGid;
  }

 private:
  PortAddress port_;
};

}  // namespace hca::adapter

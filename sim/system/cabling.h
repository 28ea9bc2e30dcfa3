// What connects the hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/kernel/calendar.h"
#include "models/network/fabric_identity.h"
#include "models/network/link.h"
#include "models/network/switch.h"
#include "models/observe/probes.h"
#include "sim/config/config.h"

namespace hca::sim {

/// Data rate of the cable at port `port` of `host`: the least of the link's and of both ends' limits. A switch has
/// none.
[[nodiscard]] BitsPerSecond cableRate(const config::Config& config, std::uint32_t host, std::uint32_t port);

/// Cables between the ports of two hosts, from the k-th of one to the k-th of the other; or a switch and a cable from
/// every port to it, of which end 0 is at the host. The ports of a host are counted from 1, over all its adapters. A
/// port that has no counterpart has a cable that leads nowhere and is down.
class Cabling {
 public:
  /// Where a port is connected, and who it is.
  struct Plug {
    network::Link& link;
    std::size_t end = 0;
    network::PortIdentity identity;
  };
  /// Throws std::invalid_argument if there are more ports than addresses.
  Cabling(kernel::Calendar& calendar, observe::Probes& probes, const config::Config& config);

  [[nodiscard]] Plug plug(std::uint32_t host, std::uint32_t port = 1);
  /// The port answers to another LID from now on, and packets for it are led to it.
  void changeLid(std::uint32_t host, std::uint32_t port, Lid lid);
  [[nodiscard]] bool hasSwitch() const { return switch_ != nullptr; }

  /// What `host` sent through `port`.
  [[nodiscard]] const network::LinkCounters& sent(std::uint32_t host, std::uint32_t port = 1) const;
  /// What the switch sent to it; null if there is none.
  [[nodiscard]] const network::LinkCounters* sentBySwitch(std::uint32_t host, std::uint32_t port = 1) const;
  /// The switch's port to it; zeros if there is no switch.
  [[nodiscard]] network::SwitchCounters switchPort(std::uint32_t host, std::uint32_t port = 1) const;

 private:
  /// Takes nothing: the link is down.
  struct Nowhere final : network::PacketReceiver {
    void onPacket(network::Packet&) override {}
  };
  void connectSwitch(kernel::Calendar& calendar, observe::Probes& probes, const config::Config& config);
  void connectBackToBack(kernel::Calendar& calendar, observe::Probes& probes, const config::Config& config);
  void setFaults(const config::Config& config);
  [[nodiscard]] std::uint32_t indexOf(std::uint32_t host, std::uint32_t port) const {
    return firstPorts_[host] + port - 1;
  }

  network::FabricIdentity fabric_;
  std::vector<std::uint32_t> firstPorts_;  // by host: ports of the hosts before it
  Nowhere nowhere_;
  std::unique_ptr<network::Switch> switch_;
  std::vector<std::unique_ptr<network::Link>> links_;
};

}  // namespace hca::sim

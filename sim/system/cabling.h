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

/// One cable between two hosts; or a switch and a cable from every host to it, of which end 0 is at the host.
class Cabling {
 public:
  /// Where a host is connected.
  struct Plug {
    network::Link& link;
    std::size_t end = 0;
  };
  Cabling(kernel::Calendar& calendar, observe::Probes& probes, const config::Config& config,
          const network::FabricIdentity& fabric);

  [[nodiscard]] Plug plug(std::uint32_t host);
  [[nodiscard]] bool hasSwitch() const { return switch_ != nullptr; }

  /// What `host` sent.
  [[nodiscard]] const network::LinkCounters& sent(std::size_t host) const;
  /// What the switch sent to `host`; null if there is none.
  [[nodiscard]] const network::LinkCounters* sentBySwitch(std::size_t host) const;
  /// The switch's port to `host`; zeros if there is no switch.
  [[nodiscard]] network::SwitchCounters switchPort(std::size_t host) const;

 private:
  void connectSwitch(kernel::Calendar& calendar, observe::Probes& probes, const config::Config& config,
                     const network::FabricIdentity& fabric);

  std::unique_ptr<network::Switch> switch_;
  std::vector<std::unique_ptr<network::Link>> links_;
};

}  // namespace hca::sim

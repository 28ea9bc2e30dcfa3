// Section [adapter.device]: which adapter this is.
#pragma once

#include <cstdint>

#include "models/base/config_key.h"
#include "models/base/units.h"

namespace hca::adapter {

struct DeviceConfig {
  std::uint32_t deviceId = 4119;
  std::uint32_t ports = 1;
  Hertz clock{1'000'000'000};

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    key("device_id", self.deviceId, range(1U, 65535U),
        "PCI device id: 4113 Connect-IB, 4115 ConnectX-4, 4119 ConnectX-5, 4123 ConnectX-6, 4129 ConnectX-7");
    key("ports", self.ports, range(1U, 2U), "Ports; each has a link to the network");
    key("clock", self.clock, range(Hertz(1'000'000), Hertz(10'000'000'000)),
        "Core clock of the adapter: every key in cycles counts in it");
  }
};

}  // namespace hca::adapter

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
  Time fatalAt{};
  std::uint32_t fatalSyndrome = 1;

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    key("device_id", self.deviceId, range(1U, 65535U),
        "PCI device id: 4113 Connect-IB, 4115 ConnectX-4, 4119 ConnectX-5, 4123 ConnectX-6, 4129 ConnectX-7");
    key("ports", self.ports, range(1U, 2U), "Ports; each has a link to the network");
    key("clock", self.clock, range(Hertz(1'000'000), Hertz(10'000'000'000)),
        "Core clock of the adapter: every key in cycles counts in it");
    key("fatal_at", self.fatalAt, range(Time(0), milliseconds(3'600'000)),
        "When the adapter fails for good, simulated time from the beginning; 0s: never");
    key("fatal_syndrome", self.fatalSyndrome, range(1U, 255U),
        "What its health buffer says then: 1 firmware, 7 irrecoverable, 8 hardware, 13 event queue, 15 overheated");
  }
};

}  // namespace hca::adapter

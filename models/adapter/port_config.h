// Section [adapter.port]: a port of an adapter.
#pragma once

#include <cstdint>
#include <string>

#include "models/base/config_key.h"
#include "models/base/units.h"

namespace hca::adapter {

/// Times are simulated, from the beginning; 0 is never.
struct PortConfig {
  BitsPerSecond rate{0};
  std::string partitionKeys = "0xffff";
  Time downAt{};
  Time upAt{};
  Time lidAt{};
  std::uint32_t newLid = 0;
  Time partitionKeysAt{};
  std::string newPartitionKeys;
  Time guidAt{};
  std::string newGuid;
  Time reregisterAt{};

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    const auto whenever = range(Time(0), milliseconds(3'600'000));
    key("rate", self.rate, range(BitsPerSecond(0), BitsPerSecond(1'600'000'000'000)),
        "Fastest data rate of the port; its link runs at the lowest of this, the far port's and [link] rate; 0bps: no "
        "limit of its own");
    key("pkeys", self.partitionKeys,
        "InfiniBand: the port's partition keys by index, 0 for an empty entry, such as 0xffff, 0x8001, 0, 0x7002; bit "
        "15 says full member");
    key("down_at", self.downAt, whenever, "When its cable is pulled, simulated time from the beginning; 0s: never");
    key("up_at", self.upAt, whenever, "When it is plugged in again; 0s: never");
    key("lid_at", self.lidAt, whenever, "InfiniBand: when the subnet manager gives the port new_lid; 0s: never");
    key("new_lid", self.newLid, range(0U, 0xBFFFU), "The LID from lid_at on, a multiple of 2^lmc that no port has");
    key("pkeys_at", self.partitionKeysAt, whenever,
        "InfiniBand: when the subnet manager gives the port new_pkeys; 0s: never");
    key("new_pkeys", self.newPartitionKeys, "The partition keys from pkeys_at on");
    key("guid_at", self.guidAt, whenever,
        "InfiniBand: when the port's GUID, and with it its GID, changes to new_guid; 0s: never");
    key("new_guid", self.newGuid, "The GUID from guid_at on, hexadecimal, such as 0x0200c0ffee000001");
    key("reregister_at", self.reregisterAt, whenever,
        "InfiniBand: when the subnet manager asks clients to register again; 0s: never");
  }
};

}  // namespace hca::adapter

// Section [switch]: what connects more than two hosts.
#pragma once

#include "models/base/config_key.h"
#include "models/base/units.h"

namespace hca::network {

struct SwitchConfig {
  bool always = false;
  Time latency = nanoseconds(269);
  Bytes buffer{std::int64_t{16} << 20};

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    key("always", self.always, "Put the switch even between two hosts; more than two always have it");
    key("latency", self.latency, range(Time(0), milliseconds(1)),
        "From the first bit in to the first bit out of an idle port; published for the SX6030");
    key("buffer", self.buffer, range(Bytes(0), Bytes(std::int64_t{1} << 40)),
        "Most bytes that wait at one output port; a packet that finds no room is dropped");
  }
};

}  // namespace hca::network

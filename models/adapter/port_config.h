// Section [adapter.port]: a port of an adapter.
#pragma once

#include "models/base/config_key.h"
#include "models/base/units.h"

namespace hca::adapter {

struct PortConfig {
  BitsPerSecond rate{0};

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    key("rate", self.rate, config::range(BitsPerSecond(0), BitsPerSecond(1'600'000'000'000)),
        "Fastest data rate of the port; its link runs at the lowest of this, the far port's and [link] rate; 0bps: no "
        "limit of its own");
  }
};

}  // namespace hca::adapter

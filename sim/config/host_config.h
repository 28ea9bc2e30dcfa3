// Section [host]: the hosts of the fabric.
#pragma once

#include <cstdint>

#include "models/base/config_key.h"

namespace hca::config {

struct HostConfig {
  std::uint32_t count = 2;

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    key("count", self.count, range(2U, 1024U), "Hosts; two are connected back to back, more through a switch");
  }
};

}  // namespace hca::config

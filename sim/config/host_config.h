// Sections [host] and [host.N]: the hosts of the fabric.
#pragma once

#include <cstdint>

#include "models/base/config_key.h"

namespace hca::config {

/// What [host] says of all hosts and [host.N] of one.
struct OneHostConfig {
  static constexpr std::uint32_t kMostAdapters = 8;

  std::uint32_t adapters = 1;

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    key("adapters", self.adapters, range(1U, kMostAdapters), "Adapters of a host, each with a PCI Express link");
  }
};

struct HostConfig : OneHostConfig {
  std::uint32_t count = 2;

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    key("count", self.count, range(2U, 1024U), "Hosts; two are connected back to back, more through a switch");
    OneHostConfig::describe(self, key);
  }
};

}  // namespace hca::config

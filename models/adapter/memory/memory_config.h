// [adapter.memory]
#pragma once

#include <cstdint>

#include "models/base/config_key.h"

namespace hca::adapter {

/// Sizes of the protection tables. Reported to the driver as capabilities.
struct MemoryConfig {
  std::uint32_t logMaxMkey = 20;
  std::uint32_t logMaxPd = 16;
  std::uint32_t maxMkeyPages = 1U << 22;

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    key("log_max_mkey", self.logMaxMkey, config::range(std::uint32_t{5}, std::uint32_t{24}),
        "Binary logarithm of the number of memory keys");
    key("log_max_pd", self.logMaxPd, config::range(std::uint32_t{1}, std::uint32_t{24}),
        "Binary logarithm of the number of protection domains");
    key("max_mkey_pages", self.maxMkeyPages, config::range(std::uint32_t{1}, std::uint32_t{1} << 28),
        "Most pages that one memory key translates");
  }
};

}  // namespace hca::adapter

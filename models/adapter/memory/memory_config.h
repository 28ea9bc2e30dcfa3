// [adapter.memory]
#pragma once

#include <cstdint>

#include "models/base/config_key.h"
#include "models/base/units.h"

namespace hca::adapter {

/// Sizes of the protection tables and of the memory inside the adapter. Reported to the driver as capabilities. The
/// default size of device memory is what ibv_devinfo -v shows of adapters of this class; nothing public tells how fast
/// it is.
struct MemoryConfig {
  std::uint32_t logMaxMkey = 20;
  std::uint32_t logMaxPd = 16;
  std::uint32_t maxMkeyPages = 1U << 22;
  bool registrationByRequest = true;
  Bytes deviceMemory{131072};  // published for ConnectX-5
  Cycles deviceMemoryLatency{40};
  Bytes deviceMemoryWidth{32};

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    key("log_max_mkey", self.logMaxMkey, config::range(std::uint32_t{5}, std::uint32_t{24}),
        "Binary logarithm of the number of memory keys");
    key("log_max_pd", self.logMaxPd, config::range(std::uint32_t{1}, std::uint32_t{24}),
        "Binary logarithm of the number of protection domains");
    key("max_mkey_pages", self.maxMkeyPages, config::range(std::uint32_t{1}, std::uint32_t{1} << 28),
        "Most pages that one memory key translates");
    key("registration_by_request", self.registrationByRequest,
        "Work requests (UMRs) can bring all translations of a memory key, so that kernel drivers register memory by "
        "them, with keys that they keep in store; no: they create a key for each region by a command");
    key("device_memory", self.deviceMemory, config::range(Bytes(0), Bytes(1 << 20)),
        "Memory inside the adapter that programs can allocate (MEMIC), in whole pages of 4 KiB; 0B: none");
    key("device_memory_latency", self.deviceMemoryLatency, config::range(Cycles(0), Cycles(100'000)),
        "From the turn of an access of the adapter to its device memory to the last byte");
    key("device_memory_width", self.deviceMemoryWidth, config::range(Bytes(1), Bytes(4096)),
        "Bytes that the adapter moves from or to its device memory in one cycle");
  }
};

}  // namespace hca::adapter

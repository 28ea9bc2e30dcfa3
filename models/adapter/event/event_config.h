// Section [adapter.event]: event queues and interrupt vectors.
#pragma once

#include <cstdint>

#include "models/base/config_key.h"
#include "models/base/units.h"

namespace hca::adapter {

struct EventConfig {
  Cycles eqeBuildCycles{4};
  Cycles eqeWriteCycles{36};
  Cycles armLatencyCycles{20};
  std::int64_t maxEqs = 128;
  std::int64_t logMaxEqSize = 18;
  std::int64_t vectors = 64;

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    key("eqe_build_cycles", self.eqeBuildCycles, range(Cycles(0), Cycles(100'000)),
        "Time for which one EQE occupies the writer");
    key("eqe_write_cycles", self.eqeWriteCycles, range(Cycles(0), Cycles(100'000)),
        "From the built EQE to its hand-over to PCIe, with its interrupt message behind it");
    key("arm_latency_cycles", self.armLatencyCycles, range(Cycles(0), Cycles(100'000)),
        "From the arrival of an event queue doorbell at its register to its effect");
    key("max_eqs", self.maxEqs, range<std::int64_t>(1, 255), "Event queues that the adapter can hold");
    key("log_max_eq_size", self.logMaxEqSize, range<std::int64_t>(1, 22),
        "Binary logarithm of the most entries of one event queue");
    key("vectors", self.vectors, range<std::int64_t>(1, 2048), "Entries of the MSI-X table");
  }
};

}  // namespace hca::adapter

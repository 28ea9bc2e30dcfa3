// Section [driver]: what the kernel driver asks of an adapter.
#pragma once

#include <cstdint>

#include "models/base/config_key.h"
#include "models/base/units.h"
#include "models/host/page_size.h"

namespace hca::driver {

/// Sizes are those of the stock driver: Linux drivers/net/ethernet/mellanox/mlx5/core/eq.c. What the driver's own code
/// costs is in section [cpu].
struct DriverConfig {
  std::uint32_t num_comp_vectors = 0;
  std::uint32_t comp_eq_entries = 1024;
  std::uint32_t async_eq_entries = 4096;
  std::uint32_t command_eq_entries = 32;
  bool prefer_blueflame = true;
  bool confirm_arm = true;
  host::PageSize largest_page = host::PageSize::k1GiB;
  std::uint32_t cqe_version = 1;
  std::uint32_t min_cqe = 1;
  bool raise_zero_cqe = false;
  Time command_timeout = milliseconds(60'000);
  Time health_poll = milliseconds(2000);

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    key("num_comp_vectors", self.num_comp_vectors, range(0U, 2047U),
        "Completion vectors, each with an event queue and an interrupt of its own (0: one for each core, as far as the "
        "adapter has interrupts)");
    key("comp_eq_entries", self.comp_eq_entries, range(1U, 1U << 20), "Entries of a completion event queue");
    key("async_eq_entries", self.async_eq_entries, range(1U, 1U << 20), "Entries of the asynchronous event queue");
    key("command_eq_entries", self.command_eq_entries, range(1U, 1U << 20), "Entries of the command event queue");
    key("prefer_blueflame", self.prefer_blueflame,
        "Copy a single request into the doorbell register even if it has no inline data");
    key("confirm_arm", self.confirm_arm,
        "Programs that poll once more after an arm first read a register, so that the arm has arrived: needed where an "
        "arm counts for later entries alone (arm_rule = ib_spec), not where it compares indices");
    key("largest_page", self.largest_page,
        "Memory is registered in pages as large as its place allows, but no larger than this: 4KiB for a program "
        "without huge pages");
    key("cqe_version", self.cqe_version, range(0U, 1U),
        "How completion entries name their queue to programs under hcasim cosim: 1 by an index that the program chose, "
        "0 by the queue pair's and the shared queue's number, as older adapters do");
    key("min_cqe", self.min_cqe, range(1U, 1U << 22), "Depth to which the driver raises smaller completion queues");
    key("raise_zero_cqe", self.raise_zero_cqe,
        "A completion queue of depth 0 is raised, too; otherwise it is refused as invalid");
    key("command_timeout", self.command_timeout, range(microseconds(1), milliseconds(3'600'000)),
        "After which the driver gives up a command that got no answer. It looks at the clock only once a drill "
        "concerns "
        "commands or interrupts");
    key("health_poll", self.health_poll, range(microseconds(1), milliseconds(3'600'000)),
        "From one look at the adapter's health to the next, for a while after a drill that concerns it");
  }
};

}  // namespace hca::driver

// Notifications that programs relied on although the InfiniBand specification doesn't promise them.
#pragma once

#include <cstdint>
#include <vector>

#include "models/observe/probes.h"
#include "sim/observers/hazard_counts.h"

namespace hca::cosim {

/// The adapter reports every event that came for entries older than the arm. It is harmless if the program polls these
/// entries before it takes the event, as the safe order does. It counts if the program takes the event with such an
/// entry not yet polled: without the event it would have slept.
class HazardWatch {
 public:
  /// `probes` must live as long.
  explicit HazardWatch(observe::Probes& probes);
  HazardWatch(const HazardWatch&) = delete;
  HazardWatch& operator=(const HazardWatch&) = delete;

  /// Whether an event is on its way that may be one; only then anybody needs to know what programs take.
  [[nodiscard]] bool isWatching() const { return !undecided_.empty(); }
  /// A program takes an event of this queue, of which it has polled `taken` entries so far, modulo 2^24.
  void eventTaken(HostIndex host, AdapterIndex adapter, CqNumber cq, std::uint32_t taken);
  void add(const observe::HazardEvent& event) { counts_.add(event); }

  [[nodiscard]] const std::vector<report::HazardResult>& results() const { return counts_.results(); }

 private:
  std::vector<observe::HazardEvent> undecided_;  // one a queue at most
  observers::HazardCounts counts_;
};

}  // namespace hca::cosim

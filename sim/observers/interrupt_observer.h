// How often each interrupt vector was delivered.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "models/observe/probes.h"
#include "sim/report/result.h"

namespace hca::observers {

/// Listens to the interrupt probe. Masked messages count when they are delivered.
class InterruptObserver {
 public:
  /// `probes` must outlive the run.
  explicit InterruptObserver(observe::Probes& probes);
  InterruptObserver(const InterruptObserver&) = delete;
  InterruptObserver& operator=(const InterruptObserver&) = delete;

  /// The completion vector (comp_vector) behind an MSI-X vector, if there is one: the driver's choice.
  using VectorMap = std::function<std::optional<std::uint32_t>(HostIndex, AdapterIndex, InterruptVector)>;
  /// By host, adapter and vector; vectors that were never delivered are left out.
  [[nodiscard]] std::vector<report::VectorResult> results(const VectorMap& completionVector) const;

 private:
  using Key = std::tuple<HostIndex, AdapterIndex, InterruptVector>;
  std::map<Key, std::uint64_t> delivered_;
};

}  // namespace hca::observers

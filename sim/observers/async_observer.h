// Asynchronous events of the adapters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/observe/probes.h"
#include "sim/report/result.h"

namespace hca::observers {

/// Listens to the asynchronous probe and keeps the first kMost events.
class AsyncObserver {
 public:
  static constexpr std::size_t kMost = 10'000;

  /// `probes` must outlive the run.
  explicit AsyncObserver(observe::Probes& probes);
  AsyncObserver(const AsyncObserver&) = delete;
  AsyncObserver& operator=(const AsyncObserver&) = delete;

  [[nodiscard]] const std::vector<report::AsyncEventResult>& results() const { return results_; }

 private:
  std::vector<report::AsyncEventResult> results_;
};

/// Name of an EQE type: "CQ_ERR", "PORT_CHANGE", ...; "type 0x1c" if it has none here.
/// Numbers: enum mlx5_event of Linux include/linux/mlx5/device.h.
[[nodiscard]] std::string eventTypeName(std::uint8_t type);

}  // namespace hca::observers

// Faults of the adapter itself.
#pragma once

#include <cstdint>

namespace hca::adapter {

/// Syndromes of the health buffer. rdma-core providers/mlx5/mlx5_vfio.c, MLX5_INITIAL_SEG_HEALTH_SYND_*.
enum class HealthSyndrome : std::uint8_t { kNone = 0x0, kFirmware = 0x1, kEqOverrun = 0xC, kEqError = 0xD };

class HealthSink {
 public:
  /// An event was lost for good: the driver can only reset the function. Told at each loss.
  virtual void onHealthProblem(HealthSyndrome syndrome) = 0;

 protected:
  ~HealthSink() = default;
};

}  // namespace hca::adapter

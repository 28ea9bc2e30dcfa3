// Device memory (MEMIC): what an adapter says about it, and the commands for it.
#pragma once

#include "models/wire/command_header.h"

namespace hca::wire {

/// Capabilities of type CapabilityType::kDeviceMemory. Linux include/linux/mlx5/mlx5_ifc.h, struct
/// mlx5_ifc_device_mem_cap_bits, as far as it is about MEMIC.
struct DeviceMemoryCapabilities {
  static constexpr std::size_t kSize = 0x100;

  using Supported = ContextField<0x00, 31, 31>;         ///< memic
  using LogMinAllocation = ContextField<0x04, 20, 16>;  ///< log_min_memic_alloc_size: of bytes
  using LogMaxAlignment = ContextField<0x04, 7, 0>;     ///< log_max_memic_addr_alignment: of 64 bytes
  using BarStart = ContextWord64<0x08>;                 ///< memic_bar_start_addr: offset in BAR0
  using BarSize = ContextField<0x10, 31, 0>;            ///< bytes
  using MaxAllocation = ContextField<0x14, 31, 0>;      ///< max_memic_size: bytes
};

/// ALLOC_MEMIC input: a place for `Size` bytes within a range. struct mlx5_ifc_alloc_memic_in_bits.
struct AllocDeviceMemoryInput {
  static constexpr std::size_t kSize = 0x20;
  using LogAlignment = ContextField<0x0C, 7, 0>;  ///< of 64 bytes (Linux drivers/infiniband/hw/mlx5/dm.c)
  using RangeStart = ContextWord64<0x10>;         ///< offset in BAR0
  using RangeSize = ContextField<0x18, 31, 0>;
  using Size = ContextField<0x1C, 31, 0>;
};

/// ALLOC_MEMIC output.
struct AllocDeviceMemoryOutput {
  static constexpr std::size_t kSize = 0x10;
  using Start = ContextWord64<0x08>;  ///< offset in BAR0
};

/// DEALLOC_MEMIC input: what an ALLOC_MEMIC gave.
struct DeallocDeviceMemoryInput {
  static constexpr std::size_t kSize = 0x20;
  using Start = ContextWord64<0x10>;
  using Size = ContextField<0x18, 31, 0>;
};

}  // namespace hca::wire

// The context of an event queue (eqc).
#pragma once

#include "models/wire/context_field.h"

namespace hca::wire {

/// 64 bytes. Linux include/linux/mlx5/mlx5_ifc.h, struct mlx5_ifc_eqc_bits.
struct EventQueueContext {
  static constexpr std::size_t kSize = 64;

  using Status = ContextField<0x00, 31, 28>;  ///< 0 good, 10 write failed
  using EventCollapse = ContextField<0x00, 18, 18>;
  using IgnoreOverrun = ContextField<0x00, 17, 17>;
  using State = ContextField<0x00, 11, 8>;       ///< 9 armed, 10 fired
  using PageOffset = ContextField<0x08, 11, 6>;  ///< units of page size / 64
  using LogSize = ContextField<0x0C, 28, 24>;    ///< log2 of the number of entries
  using UarPage = ContextField<0x0C, 23, 0>;
  using Vector = ContextField<0x14, 11, 0>;        ///< MSI-X table entry; older headers name 8 bits
  using LogPageSize = ContextField<0x18, 28, 24>;  ///< log2 of the page size, minus 12
  using ConsumerCounter = ContextField<0x28, 23, 0>;
  using ProducerCounter = ContextField<0x2C, 23, 0>;
};

}  // namespace hca::wire

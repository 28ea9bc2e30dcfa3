// The context of a completion queue (cqc).
#pragma once

#include "models/wire/context_field.h"

namespace hca::wire {

/// 64 bytes. Fields: Linux include/linux/mlx5/mlx5_ifc.h, struct mlx5_ifc_cqc_bits; compression layout and the extended
/// mini format: DPDK drivers/common/mlx5/mlx5_prm.h, struct mlx5_ifc_cqc_bits.
struct CompletionQueueContext {
  static constexpr std::size_t kSize = 64;

  using Status = ContextField<0x00, 31, 28>;  ///< 0 good, 9 overflow, 10 write failed
  using DoorbellUmemValid = ContextField<0x00, 25, 25>;
  using CqeStride = ContextField<0x00, 23, 21>;  ///< 0: 64 B, 1: 128 B, 2: 128 B padded
  using Collapsed = ContextField<0x00, 20, 20>;  ///< every CQE goes to entry 0
  using SolicitedBreaksModeration = ContextField<0x00, 18, 18>;
  using IgnoreOverrun = ContextField<0x00, 17, 17>;
  using PeriodMode = ContextField<0x00, 16, 15>;  ///< 0: from the last event, 1: from the first unreported CQE
  using Compression = ContextField<0x00, 14, 14>;
  using MiniFormat = ContextField<0x00, 13, 12>;
  using State = ContextField<0x00, 11, 8>;  ///< 6 solicited armed, 9 armed, 10 fired, 11 always armed
  using AlwaysArmed = ContextField<0x00, 7, 7>;
  using CompressionLayout = ContextField<0x00, 1, 0>;  ///< 0 basic, 1 enhanced
  using DoorbellUmemId = ContextField<0x04, 31, 0>;
  using PageOffset = ContextField<0x08, 11, 6>;  ///< of entry 0 in its page, units of page size / 64
  using MiniFormatExtension = ContextField<0x08, 3, 2>;
  using TimestampFormat = ContextField<0x08, 1, 0>;
  using LogSize = ContextField<0x0C, 28, 24>;  ///< log2 of the number of entries
  using UarPage = ContextField<0x0C, 23, 0>;
  using Period = ContextField<0x10, 27, 16>;   ///< moderation, microseconds
  using MaxCount = ContextField<0x10, 15, 0>;  ///< moderation, entries
  using EventQueue = ContextField<0x14, 7, 0>;
  using LogPageSize = ContextField<0x18, 28, 24>;  ///< log2 of the page size, minus 12
  using LastNotifiedIndex = ContextField<0x20, 23, 0>;
  using LastSolicitedIndex = ContextField<0x24, 23, 0>;
  using ConsumerCounter = ContextField<0x28, 23, 0>;
  using ProducerCounter = ContextField<0x2C, 23, 0>;
  using DoorbellRecord = ContextWord64<0x38>;  ///< bus address of the 8-byte record
};

}  // namespace hca::wire

// The context of a memory key (mkc) and its translation entries.
#pragma once

#include "models/wire/context_field.h"

namespace hca::wire {

/// 64 bytes. Linux include/linux/mlx5/mlx5_ifc.h, struct mlx5_ifc_mkc_bits.
struct MemoryKeyContext {
  static constexpr std::size_t kSize = 64;
  static constexpr std::uint32_t kAnyQp = 0xFFFFFF;

  using Free = ContextField<0x00, 30, 30>;
  using AccessModeHigh = ContextField<0x00, 28, 26>;  ///< access mode [4:2]
  using RelaxedOrderingWrite = ContextField<0x00, 18, 18>;
  using SmallFenceOnReadResponse = ContextField<0x00, 16, 16>;
  using UmrEnabled = ContextField<0x00, 15, 15>;
  using Atomic = ContextField<0x00, 14, 14>;
  using RemoteWrite = ContextField<0x00, 13, 13>;
  using RemoteRead = ContextField<0x00, 12, 12>;
  using LocalWrite = ContextField<0x00, 11, 11>;
  using LocalRead = ContextField<0x00, 10, 10>;
  /// [1:0] of 0 physical, 1 translated, 2 indirect (KLM), 3 KSM, 5 device memory (MEMIC)
  using AccessModeLow = ContextField<0x00, 9, 8>;
  using Qp = ContextField<0x04, 31, 8>;         ///< kAnyQp: not bound
  using Variant = ContextField<0x04, 7, 0>;     ///< low byte of the key
  using Length64 = ContextField<0x0C, 31, 31>;  ///< the whole address space
  using BsfEnabled = ContextField<0x0C, 30, 30>;
  using RemoteInvalidate = ContextField<0x0C, 24, 24>;
  using ProtectionDomain = ContextField<0x0C, 23, 0>;
  using StartAddress = ContextWord64<0x10>;
  using Length = ContextWord64<0x18>;  ///< bytes
  using BsfOctwords = ContextField<0x20, 31, 0>;
  using TranslationOctwords = ContextField<0x34, 31, 0>;  ///< 16-byte units of the translation table
  using RelaxedOrderingRead = ContextField<0x38, 6, 6>;
  using LogPageSize = ContextField<0x38, 4, 0>;  ///< log2 of the page size (not minus 12)
};

/// One 8-byte translation entry: page address with its rights in the low bits. struct mlx5_ifc_mtt_bits.
struct TranslationEntry {
  static constexpr std::size_t kSize = 8;
  static constexpr std::uint64_t kReadEnabled = 1;
  static constexpr std::uint64_t kWriteEnabled = 2;
  static constexpr std::uint64_t kAddressMask = ~std::uint64_t{0xFF};
};

}  // namespace hca::wire

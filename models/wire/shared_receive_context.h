// The contexts of queues that several queue pairs receive from: XRC SRQ (xrc_srqc), RMP (rmpc with its wq), XRQ (xrqc
// with its wq).
#pragma once

#include "models/wire/context_field.h"

namespace hca::wire {

/// 64 bytes. Linux include/linux/mlx5/mlx5_ifc.h, struct mlx5_ifc_xrc_srqc_bits. A basic SRQ (srqc) has the same
/// fields but XrcDomain, BasicCyclic and UserIndex.
struct SharedReceiveContext {
  static constexpr std::size_t kSize = 64;

  using State = ContextField<0x00, 31, 28>;    ///< 0 good, 1 error
  using LogSize = ContextField<0x00, 27, 24>;  ///< log2 of entries
  using WqeSignature = ContextField<0x04, 31, 31>;
  using ReservedLkey = ContextField<0x04, 28, 28>;
  using BasicCyclic = ContextField<0x04, 27, 27>;
  using LogStride = ContextField<0x04, 26, 24>;  ///< log2 of bytes, minus 4
  using XrcDomain = ContextField<0x04, 23, 0>;
  using PageOffset = ContextField<0x08, 31, 26>;  ///< units of page size / 64
  using Cq = ContextField<0x08, 23, 0>;
  using UserIndexEqualsNumber = ContextField<0x10, 31, 31>;
  using LogPageSize = ContextField<0x10, 29, 24>;  ///< log2 of the page size, minus 12
  using UserIndex = ContextField<0x10, 23, 0>;
  using ProtectionDomain = ContextField<0x18, 23, 0>;
  using LowWaterMark = ContextField<0x1C, 31, 16>;
  using WqeCount = ContextField<0x1C, 15, 0>;
  using DoorbellRecord = ContextWord64<0x28>;  ///< 4-byte aligned
};

/// 192 bytes and a page list. struct mlx5_ifc_wq_bits.
struct WorkQueueContext {
  static constexpr std::size_t kSize = 0xC0;

  using Type = ContextField<0x00, 31, 28>;  ///< the constants below
  static constexpr std::uint32_t kLinkedList = 0, kCyclic = 1, kLinkedListStriding = 2, kCyclicStriding = 3;
  using WqeSignature = ContextField<0x00, 27, 27>;
  using EndPadding = ContextField<0x00, 26, 25>;
  using PageOffset = ContextField<0x04, 20, 16>;
  using LowWaterMark = ContextField<0x04, 15, 0>;
  using ProtectionDomain = ContextField<0x08, 23, 0>;
  using UarPage = ContextField<0x0C, 23, 0>;
  using DoorbellRecord = ContextWord64<0x10>;
  using HardwareCounter = ContextField<0x18, 31, 0>;
  using SoftwareCounter = ContextField<0x1C, 31, 0>;
  using LogStride = ContextField<0x20, 19, 16>;      ///< log2 of bytes
  using LogPageSize = ContextField<0x20, 12, 8>;     ///< log2 of the page size, minus 12
  using LogSize = ContextField<0x20, 4, 0>;          ///< log2 of entries
  using LogStrideCount = ContextField<0x24, 11, 8>;  ///< of kCyclicStriding: log2 of strides an entry, minus 9
  using TwoByteShift = ContextField<0x24, 7, 7>;     ///< of kCyclicStriding: two bytes of zeros before each packet
  using LogStrideSize = ContextField<0x24, 2, 0>;    ///< of kCyclicStriding: log2 of bytes a stride, minus 6
  using Pages = ContextWords64<0xC0>;
};

/// 240 bytes and a page list. struct mlx5_ifc_rmpc_bits.
struct ReceiveMemoryPoolContext {
  static constexpr std::size_t kSize = 0x30 + WorkQueueContext::kSize;

  using State = ContextField<0x00, 23, 20>;
  static constexpr std::uint32_t kReady = 1;
  static constexpr std::uint32_t kInError = 3;
  using BasicCyclic = ContextField<0x04, 31, 31>;
  using WorkQueue = ContextBlock<0x30, WorkQueueContext::kSize>;
};

/// 320 bytes and a page list. struct mlx5_ifc_xrqc_bits, with its tag_matching_topology_context.
struct TagMatchingQueueContext {
  static constexpr std::size_t kSize = 0x80 + WorkQueueContext::kSize;

  using State = ContextField<0x00, 31, 28>;  ///< 0 good, 1 error
  using Topology = ContextField<0x00, 11, 8>;
  static constexpr std::uint32_t kTagMatching = 1;
  using Offload = ContextField<0x00, 3, 0>;
  static constexpr std::uint32_t kRendezvous = 1;
  using UserIndex = ContextField<0x04, 23, 0>;
  using Cq = ContextField<0x08, 23, 0>;
  using LogListSize = ContextField<0x20, 31, 28>;         ///< log2 of tags
  using AppendNext = ContextField<0x20, 15, 0>;           ///< place of the next tag
  using SoftwarePhaseCount = ContextField<0x24, 31, 16>;  ///< unexpected messages that software has handled
  using HardwarePhaseCount = ContextField<0x24, 15, 0>;   ///< unexpected messages that the adapter has told of
  using WorkQueue = ContextBlock<0x80, WorkQueueContext::kSize>;
};

}  // namespace hca::wire

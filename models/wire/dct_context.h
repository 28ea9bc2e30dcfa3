// The context of a target of dynamic connections (dctc), and the commands that carry it.
#pragma once

#include "models/wire/command_header.h"

namespace hca::wire {

/// 64 bytes. Linux include/linux/mlx5/mlx5_ifc.h, struct mlx5_ifc_dctc_bits.
struct DctContext {
  static constexpr std::size_t kSize = 0x40;

  using State = ContextField<0x00, 27, 24>;  ///< 0 active, 1 draining, 2 drained
  using UserIndex = ContextField<0x04, 23, 0>;
  using Cq = ContextField<0x08, 23, 0>;
  using RemoteRead = ContextField<0x0C, 19, 19>;
  using RemoteWrite = ContextField<0x0C, 18, 18>;
  using RemoteAtomic = ContextField<0x0C, 17, 17>;
  using ResponderInlineScatter = ContextField<0x10, 23, 16>;  ///< cs_res
  using MinRnrNak = ContextField<0x10, 12, 8>;
  using SharedReceiveQueue = ContextField<0x14, 23, 0>;
  using ProtectionDomain = ContextField<0x18, 23, 0>;
  using TrafficClass = ContextField<0x1C, 31, 24>;
  using FlowLabel = ContextField<0x1C, 19, 0>;
  using AccessKey = ContextWord64<0x20>;
  using Mtu = ContextField<0x28, 26, 24>;  ///< 1: 256 B ... 5: 4096 B
  using Port = ContextField<0x28, 23, 16>;
  using PkeyIndex = ContextField<0x28, 15, 0>;
  using SourceGidIndex = ContextField<0x2C, 23, 16>;  ///< my_addr_index
  using HopLimit = ContextField<0x2C, 7, 0>;
};

/// CREATE_DCT input. Output, and inputs of DRAIN_DCT, DESTROY_DCT and QUERY_DCT: ObjectCommand.
struct CreateDctInput {
  static constexpr std::size_t kSize = 0x50;
  using Context = ContextBlock<0x10, DctContext::kSize>;
};

/// QUERY_DCT output.
struct QueryDctOutput {
  static constexpr std::size_t kSize = 0x50;
  using Context = ContextBlock<0x10, DctContext::kSize>;
};

}  // namespace hca::wire

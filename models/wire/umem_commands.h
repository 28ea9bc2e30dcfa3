// User memory: buffers that commands of whoever drives a function name by number. Linux include/linux/mlx5/mlx5_ifc.h,
// structures mlx5_ifc_create_umem_in_bits, mlx5_ifc_umem_bits and mlx5_ifc_create_umem_out_bits.
#pragma once

#include "models/wire/command_header.h"

namespace hca::wire {

/// CREATE_UMEM input: equal pages, in the form of translation entries.
struct CreateUmemInput {
  static constexpr std::size_t kSize = 0x30;
  using LogPageSize = ContextField<0x20, 4, 0>;  ///< of 4 KiB
  using PageOffset = ContextField<0x24, 31, 0>;  ///< bytes into the first page
  using PageCount = ContextWord64<0x28>;         ///< num_of_mtt
  using Pages = ContextWords64<0x30>;            ///< page address[63:12], write[1], read[0]
};

/// CREATE_UMEM output and DESTROY_UMEM input.
struct UmemCommand {
  using Number = ContextField<0x08, 23, 0>;
};

}  // namespace hca::wire

// From the title and a mini CQE of a compressed session back to the entry that an uncompressed queue would have.
#pragma once

#include <cstdint>

#include "models/wire/cqe.h"

namespace hca::wire {

/// The completion whose mini CQE begins at `mini` (8 bytes, unaligned). `advance` is how far its WQE counter is ahead
/// of the title's: the places between them, or in a striding receive queue the strides that those before it took. The
/// opcode of the title says whether it is a requester's or a responder's, `format` what the latter holds. What a mini
/// CQE has no room for is the title's, the time stamp included; the format bits become kPlain. Rules: Linux
/// drivers/net/ethernet/mellanox/mlx5/core/en_rx.c, mlx5e_decompress_cqe; UCX src/uct/ib/mlx5/ib_mlx5.c for requesters.
[[nodiscard]] Cqe restoreCqe(const Cqe& title, const std::uint8_t* mini, std::uint32_t advance, MiniFormat format);

/// Where the mini CQEs of a session of the basic layout begin that has `first` (a multiple of 8) completions before
/// them: slots behind the title's, which are 1, 8, 16, ...
[[nodiscard]] constexpr std::uint32_t miniArraySlot(std::uint32_t first) { return first == 0 ? 1 : first; }

}  // namespace hca::wire

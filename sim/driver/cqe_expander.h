// From compressed sessions back to the entries that an uncompressed queue would have.
#pragma once

#include <cstdint>

#include "models/adapter/completion/compressed_session.h"
#include "models/kernel/ring_queue.h"
#include "models/wire/cqe.h"
#include "sim/driver/verbs_types.h"

namespace hca::driver {

/// Reads one queue's blocks, as the drivers with readers of their own do (Linux
/// drivers/net/ethernet/mellanox/mlx5/core/en_rx.c, mlx5e_decompress_cqes_start; UCX src/uct/ib/mlx5/ib_mlx5.c for the
/// enhanced layout). Time stamps of all but a title are the title's.
class CqeExpander {
 public:
  explicit CqeExpander(const CqCompression& compression)
      : enhanced_(compression.layout == CompressionKind::kEnhanced),
        striding_(compression.striding),
        format_(compression.miniFormat) {}

  /// Whether software may take the entry with free-running index `index`, whose last bytes are at `end`.
  [[nodiscard]] bool isOwned(const std::uint8_t* end, std::uint64_t index, unsigned logSize) const;
  /// Takes what begins with entry `index` of a ring of 2^logSize entries at `entries`: one entry, or a block. Its
  /// completions go to `out`. All its slots are made invalid: the adapter leaves most of them unwritten in this pass,
  /// and what is left in there must not look new in a later one (the owner bit repeats every second pass, the validity
  /// byte every 256). Returns how many slots it was. Precondition: isOwned.
  std::uint32_t expand(std::uint8_t* entries, std::uint64_t index, unsigned logSize, kernel::RingQueue<wire::Cqe>& out);

 private:
  std::uint32_t expandBasic(std::uint8_t* entries, std::uint64_t index, unsigned logSize,
                            kernel::RingQueue<wire::Cqe>& out);
  std::uint32_t expandEnhanced(std::uint8_t* entries, std::uint64_t index, unsigned logSize,
                               kernel::RingQueue<wire::Cqe>& out);

  /// By how much the WQE counter is further behind `cqe`.
  [[nodiscard]] std::uint32_t advanceOf(const wire::Cqe& cqe) const {
    return striding_ ? wire::Cqe::ConsumedStrides::get(cqe.byteCount) : 1;
  }

  bool enhanced_;
  bool striding_;
  adapter::MiniFormat format_;
  wire::Cqe title_;
  std::uint32_t advance_ = 0;  // how far the next completion's WQE counter is ahead of the title's
};

}  // namespace hca::driver

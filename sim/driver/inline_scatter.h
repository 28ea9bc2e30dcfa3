// What software does with data that came in a completion entry: it copies them where the request wanted them.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/byte_view.h"
#include "models/host/bus_address_space.h"
#include "sim/driver/verbs_types.h"

namespace hca::driver {

/// The scatter list of a receive WQE: up to `most` data segments at `segments`.
void readScatterList(const std::uint8_t* segments, std::uint32_t most, std::vector<ScatterGather>& list);

/// Copies `data` into the pieces in turn (rdma-core providers/mlx5/qp.c, copy_to_scat). kLocalLength if they don't have
/// the room, kLocalProtection if a piece is nowhere in `memory`.
WcStatus scatter(ByteView data, const std::vector<ScatterGather>& list, host::MemoryBackend& memory);

}  // namespace hca::driver

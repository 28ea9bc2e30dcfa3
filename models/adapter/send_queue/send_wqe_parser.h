// From the bytes of a send WQE to a SendRequest.
#pragma once

#include <cstdint>

#include "models/adapter/send_queue/send_request.h"
#include "models/base/byte_view.h"
#include "models/kernel/payload_pool.h"

namespace hca::adapter {

/// 64-byte blocks that a WQE of `units` 16-byte units occupies; at least one.
[[nodiscard]] constexpr std::uint16_t blocksOf(std::uint32_t units) {
  return static_cast<std::uint16_t>(units == 0 ? 1 : (units + 3) / 4);
}

/// Parses the WQE that starts at `bytes` (at least its own length, a multiple of 16). `index` is its free-running block
/// number. A malformed WQE comes back faulted with a local queue pair operation error.
[[nodiscard]] SendRequest parseSendWqe(ByteView bytes, std::uint64_t index, QpService service,
                                       kernel::PayloadPool& pool);

}  // namespace hca::adapter

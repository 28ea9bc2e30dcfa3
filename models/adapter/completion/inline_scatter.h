// Small responses that travel in their completion entry instead of a write of their own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/adapter/completion/completion_port.h"
#include "models/base/byte_view.h"

namespace hca::adapter {

/// Bytes that a code of qpc.cs_req lets a requester's completion carry (Linux drivers/infiniband/hw/mlx5/mlx5_ib.h,
/// MLX5_REQ_SCAT_DATA32_CQE and _DATA64_CQE).
constexpr std::uint32_t requesterInlineRoom(std::uint8_t code) {
  if (code == 0x11) return wire::kInlineScatterSmall;
  return code == 0x22 ? wire::kInlineScatterLarge : 0;
}

/// The same of qpc.cs_res and a responder's completion (MLX5_RES_SCAT_DATA32_CQE, _DATA64_CQE).
constexpr std::uint32_t responderInlineRoom(std::uint8_t code) {
  if (code == 1) return wire::kInlineScatterSmall;
  return code == 2 ? wire::kInlineScatterLarge : 0;
}

/// Puts `length` bytes into the entry; zeros where `data` is empty, because the simulation moves no payload.
inline void putInline(CompletionRecord& record, ByteView data, std::uint32_t length) {
  record.inlineLength = static_cast<std::uint8_t>(length);
  std::copy_n(data.data(), std::min<std::size_t>(data.size(), length), record.inlineData.begin());
}

}  // namespace hca::adapter

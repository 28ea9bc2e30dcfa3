#include "sim/driver/inline_scatter.h"

#include <algorithm>
#include <cstring>

#include "models/wire/wqe.h"

namespace hca::driver {

void readScatterList(const std::uint8_t* segments, std::uint32_t most, std::vector<ScatterGather>& list) {
  for (std::uint32_t i = 0; i < most; ++i) {
    const auto segment =
        structFrom<wire::DataSegment>({segments + i * sizeof(wire::DataSegment), sizeof(wire::DataSegment)});
    if (segment.key.host() == wire::DataSegment::kTerminatorKey) return;
    list.push_back({segment.address.host(), segment.byteCount.host(), MemoryKey(segment.key.host())});
  }
}

WcStatus scatter(ByteView data, const std::vector<ScatterGather>& list, host::MemoryBackend& memory) {
  std::size_t done = 0;
  for (const ScatterGather& piece : list) {
    const std::size_t take = std::min<std::size_t>(piece.length, data.size() - done);
    if (take == 0) continue;
    std::uint8_t* const to = memory.direct(piece.address, take);
    if (to == nullptr) return WcStatus::kLocalProtection;
    std::memcpy(to, data.data() + done, take);
    done += take;
  }
  return done == data.size() ? WcStatus::kSuccess : WcStatus::kLocalLength;
}

}  // namespace hca::driver

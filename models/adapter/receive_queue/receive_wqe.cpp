#include "models/adapter/receive_queue/receive_wqe.h"

#include "models/wire/wqe.h"

namespace hca::adapter {

ReceiveWqe parseReceiveWqe(ByteView segments, std::uint64_t index, std::uint16_t counter) {
  ReceiveWqe wqe;
  wqe.index = index;
  wqe.counter = counter;
  for (std::size_t at = 0; at + sizeof(wire::DataSegment) <= segments.size(); at += sizeof(wire::DataSegment)) {
    const auto segment = structFrom<wire::DataSegment>(segments.subview(at, sizeof(wire::DataSegment)));
    if (segment.key.host() == wire::DataSegment::kTerminatorKey) break;
    if (segment.byteCount.host() == 0) continue;
    wqe.segments.push({segment.address.host(), segment.byteCount.host(), MemoryKey(segment.key.host())});
    wqe.capacity += segment.byteCount.host();
  }
  return wqe;
}

}  // namespace hca::adapter

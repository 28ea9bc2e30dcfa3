#include "sim/driver/receive_ring.h"

#include "models/base/byte_view.h"
#include "models/wire/wqe.h"
#include "sim/driver/inline_scatter.h"

namespace hca::driver {

ReceiveRing::ReceiveRing(std::uint8_t* entries, std::uint8_t* counter, const ReceiveQueueSize& size)
    : entries_(entries), counter_(counter), size_(size), slots_(size.entries) {}

VerbsError ReceiveRing::post(const ReceiveWorkRequest& request) {
  if (outstanding() >= size_.maxPosted) return VerbsError::kNoMemory;
  if (request.scatterGather.size() > size_.maxScatter) return VerbsError::kInvalid;
  const std::size_t slot = head_ & (size_.entries - 1);
  std::uint8_t* const segments = entries_ + (slot << size_.logStride);
  std::size_t used = 0;
  const auto put = [&](const wire::DataSegment& segment) {
    std::memcpy(segments + used * sizeof segment, &segment, sizeof segment);
    ++used;
  };
  for (const ScatterGather& piece : request.scatterGather) {
    if (piece.length == 0) continue;
    put({wire::Be32(piece.length), wire::Be32(piece.localKey.value()), wire::Be64(piece.address)});
  }
  if (used < size_.maxScatter) put({wire::Be32(0), wire::Be32(wire::DataSegment::kTerminatorKey), wire::Be64(0)});
  slots_[slot] = Slot{request.workRequestId, head_};
  ++head_;
  return VerbsError::kNone;
}

void ReceiveRing::publish() {
  wire::storeBigEndian(counter_, static_cast<std::uint32_t>(head_) & wire::kWqeCounterMask);
}

void ReceiveRing::scatterList(std::uint16_t wqeCounter, std::vector<ScatterGather>& list) const {
  const std::size_t slot = wqeCounter & (size_.entries - 1);
  readScatterList(entries_ + (slot << size_.logStride), size_.maxScatter, list);
}

ReceiveRing::Retired ReceiveRing::retire(std::uint16_t wqeCounter) {
  const Slot& slot = slots_[wqeCounter & (size_.entries - 1)];
  ++tail_;
  return {slot.workRequestId, slot.index};
}

}  // namespace hca::driver

#include "sim/driver/shared_receive_ring.h"

#include <cstddef>

#include "models/base/byte_view.h"
#include "models/wire/wqe.h"
#include "sim/driver/inline_scatter.h"

namespace hca::driver {

SharedReceiveRing::SharedReceiveRing(std::uint8_t* entries, std::uint8_t* counter, const ReceiveQueueSize& size)
    : entries_(entries), counter_(counter), size_(size), slots_(size.entries) {
  for (std::uint32_t place = 0; place < size.entries; ++place) {
    link(static_cast<std::uint16_t>(place), static_cast<std::uint16_t>((place + 1) & (size.entries - 1)));
  }
  tail_ = static_cast<std::uint16_t>(size.entries - 1);
}

std::uint16_t SharedReceiveRing::nextOf(std::uint16_t place) const {
  const std::uint8_t* const entry = entries_ + (std::size_t{place} << size_.logStride);
  return wire::loadBigEndian<std::uint16_t>(entry + offsetof(wire::NextSegment, nextIndex));
}

void SharedReceiveRing::link(std::uint16_t place, std::uint16_t next) {
  std::uint8_t* const entry = entries_ + (std::size_t{place} << size_.logStride);
  wire::storeBigEndian(entry + offsetof(wire::NextSegment, nextIndex), next);
}

VerbsError SharedReceiveRing::post(const ReceiveWorkRequest& request) {
  if (request.scatterGather.size() > size_.maxScatter) return VerbsError::kInvalid;
  if (head_ == tail_) return VerbsError::kNoMemory;
  std::uint8_t* at = entries_ + (std::size_t{head_} << size_.logStride) + sizeof(wire::NextSegment);
  const auto put = [&at](const wire::DataSegment& segment) {
    std::memcpy(at, &segment, sizeof segment);
    at += sizeof segment;
  };
  for (const ScatterGather& piece : request.scatterGather) {
    put({wire::Be32(piece.length), wire::Be32(piece.localKey.value()), wire::Be64(piece.address)});
  }
  if (request.scatterGather.size() < size_.maxScatter) {
    put({wire::Be32(0), wire::Be32(wire::DataSegment::kTerminatorKey), wire::Be64(0)});
  }
  slots_[head_] = {request.workRequestId, posted_};
  head_ = nextOf(head_);
  ++posted_;
  return VerbsError::kNone;
}

void SharedReceiveRing::publish() {
  wire::storeBigEndian(counter_, static_cast<std::uint32_t>(posted_) & wire::kWqeCounterMask);
}

void SharedReceiveRing::scatterList(std::uint16_t wqeCounter, std::vector<ScatterGather>& list) const {
  const std::size_t place = wqeCounter & (size_.entries - 1);
  readScatterList(entries_ + (place << size_.logStride) + sizeof(wire::NextSegment), size_.maxScatter, list);
}

ReceiveRing::Retired SharedReceiveRing::retire(std::uint16_t wqeCounter) {
  const auto place = static_cast<std::uint16_t>(wqeCounter & (size_.entries - 1));
  link(tail_, place);
  tail_ = place;
  ++retired_;
  return slots_[place];
}

}  // namespace hca::driver

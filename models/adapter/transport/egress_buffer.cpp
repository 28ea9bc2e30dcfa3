#include "models/adapter/transport/egress_buffer.h"

#include <algorithm>

namespace hca::adapter {

namespace {
constexpr std::int64_t kLargestPacket = 4096;
}

EgressBuffer::EgressBuffer(kernel::Calendar& calendar, Bytes size)
    : calendar_(calendar),
      size_(size),
      roomTimer_(calendar, kernel::Priority::kAdapter, *this, &EgressBuffer::onRoomTimer) {}

bool EgressBuffer::hasRoom(EgressRoomListener& waiter) {
  releaseLeft();
  if (reserved_ + kLargestPacket <= size_.count()) return true;
  if (std::find(blocked_.begin(), blocked_.end(), &waiter) == blocked_.end()) blocked_.push_back(&waiter);
  if (!releases_.empty() && !roomTimer_.isSet()) roomTimer_.set(releases_.front().when);
  return false;
}

void EgressBuffer::releaseLeft() {
  while (!releases_.empty() && releases_.front().when <= calendar_.now()) reserved_ -= releases_.pop().bytes;
}

void EgressBuffer::onRoomTimer() {
  releaseLeft();
  woken_.swap(blocked_);  // each may find no room again
  for (EgressRoomListener* waiter : woken_) waiter->onEgressRoom();
  woken_.clear();
}

void EgressBuffer::releaseAt(Time when, std::uint32_t bytes) {
  releaseLeft();  // a side that sends but never asks for room must not collect what left long ago
  if (bytes != 0) releases_.push({when, bytes});
  if (!blocked_.empty() && !releases_.empty() && !roomTimer_.isSet()) roomTimer_.set(releases_.front().when);
}

void EgressBuffer::release(std::uint32_t bytes) {
  reserved_ -= bytes;
  if (!blocked_.empty() && !roomTimer_.isSet()) roomTimer_.set(calendar_.now());
}

}  // namespace hca::adapter

#include "models/adapter/completion/ring_occupancy.h"

namespace hca::adapter {

bool RingOccupancy::learnRecord(std::uint32_t consumerIndex) {
  const std::uint64_t consumer = extendIndex24(consumerIndex, produced_);
  if (consumer > produced_) return false;  // also where it would lie before the first entry of all
  record_ = std::max(record_, consumer);
  sample(std::max(record_, arm_));
  return true;
}

void RingOccupancy::learnArm(std::uint32_t consumerIndex) {
  const std::uint64_t consumer = extendIndex24(consumerIndex, produced_);
  if (consumer > produced_ || consumer < arm_) return;
  arm_ = consumer;
  sample(std::max(record_, arm_));
}

void RingOccupancy::resize(unsigned logSize) {
  ++produced_;
  ++record_;
  size_ = std::uint64_t{1} << logSize;
}

void RingOccupancy::sample(std::uint64_t consumer) {
  learnt_ = true;
  highWater_ = std::max(highWater_, std::min(produced_ - consumer, size_));
}

RingOccupancy::Lost RingOccupancy::endExplaining() {
  const std::uint64_t first = std::max({record_, arm_, explained_});
  explained_ = std::max(explained_, explaining_);
  if (first >= explaining_) return {};
  return {first, explaining_ - first};
}

}  // namespace hca::adapter

#include "sim/driver/completion_ring.h"

#include <cassert>
#include <cstddef>

#include "models/wire/doorbell.h"

namespace hca::driver {

CompletionRing::CompletionRing(std::uint8_t* entries, std::uint8_t* record, unsigned logSize, std::uint32_t stride)
    : entries_(entries), record_(record), logSize_(logSize), stride_(stride) {
  assert(stride == sizeof(wire::Cqe) || stride == sizeof(wire::WideCqe));
}

void CompletionRing::initialise() {
  for (std::uint64_t index = 0; index < entries(); ++index) entryEnd(index)[-1] = wire::OpOwn::kInitial;
  const wire::CqDoorbellRecord zero;
  std::memcpy(record_, &zero, sizeof zero);
}

void CompletionRing::publish() {
  wire::storeBigEndian(record_ + offsetof(wire::CqDoorbellRecord, consumerIndex),
                       static_cast<std::uint32_t>(consumerIndex_) & wire::kCqIndexMask);
}

std::uint32_t CompletionRing::clean(std::uint32_t userIndex) {
  std::uint64_t end = consumerIndex_;
  while (end < consumerIndex_ + entries() && isOwned(end)) ++end;
  std::uint32_t dropped = 0;
  // From the youngest down: entries that stay move up into the room of those that go.
  for (std::uint64_t index = end; index-- > consumerIndex_;) {
    const std::uint8_t* source = entryEnd(index) - stride_;
    const auto cqe = structFrom<wire::Cqe>({entryEnd(index) - sizeof(wire::Cqe), sizeof(wire::Cqe)});
    if (wire::Cqe::UserIndex::get(cqe.userIndex) == userIndex) {
      ++dropped;
    } else if (dropped != 0) {
      std::uint8_t* target = entryEnd(index + dropped) - stride_;
      const bool owner = wire::OpOwn::Owner::get(target[stride_ - 1]);
      std::memcpy(target, source, stride_);
      wire::OpOwn::Owner::set(target[stride_ - 1], owner);
    }
  }
  consumerIndex_ += dropped;
  if (dropped != 0) publish();
  return dropped;
}

std::uint64_t CompletionRing::arm(CqNumber cq, bool solicitedOnly) {
  wire::CqArm arm;
  arm.cq = cq.value();
  arm.consumerIndex = static_cast<std::uint32_t>(consumerIndex_) & wire::kCqIndexMask;
  arm.sequence = sequenceNumber();
  arm.solicitedOnly = solicitedOnly;
  wire::storeBigEndian(record_ + offsetof(wire::CqDoorbellRecord, arm), arm.command());
  return arm.word();
}

}  // namespace hca::driver

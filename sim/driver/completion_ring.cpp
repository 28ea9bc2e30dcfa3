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
  invalidate(entries_, logSize_, stride_);
  const wire::CqDoorbellRecord zero;
  std::memcpy(record_, &zero, sizeof zero);
}

void CompletionRing::invalidate(std::uint8_t* entries, unsigned logSize, std::uint32_t stride) {
  const std::uint64_t end = std::uint64_t{stride} << logSize;
  for (std::uint64_t at = stride; at <= end; at += stride) entries[at - 1] = wire::OpOwn::kInitial;
}

std::optional<std::uint32_t> CompletionRing::moveTo(std::uint8_t* entries, unsigned logSize) {
  const std::uint64_t mask = (std::uint64_t{1} << logSize) - 1;
  std::uint64_t index = consumerIndex_;
  while (isOwned(index) && wire::OpOwn::Opcode::get(entryEnd(index)[-1]) != wire::CqeOpcode::kResize) {
    if (index - consumerIndex_ == this->entries()) return std::nullopt;
    std::uint8_t* target = entries + ((index + 1) & mask) * stride_;
    std::memcpy(target, entryEnd(index) - stride_, stride_);
    wire::OpOwn::Owner::set(target[stride_ - 1], wire::ownerBit(static_cast<std::uint32_t>(index + 1), logSize));
    ++index;
  }
  if (!isOwned(index)) return std::nullopt;
  const auto copied = static_cast<std::uint32_t>(index - consumerIndex_);
  entries_ = entries;
  logSize_ = logSize;
  ++consumerIndex_;
  return copied;
}

void CompletionRing::publish() {
  wire::storeBigEndian(record_ + offsetof(wire::CqDoorbellRecord, consumerIndex),
                       static_cast<std::uint32_t>(consumerIndex_) & wire::kCqIndexMask);
}

std::uint32_t CompletionRing::clean(std::uint32_t userIndex, const std::function<void(const wire::Cqe&)>& onDropped) {
  std::uint64_t end = consumerIndex_;
  while (end < consumerIndex_ + entries() && isOwned(end)) ++end;
  std::uint32_t dropped = 0;
  // From the youngest down: entries that stay move up into the room of those that go.
  for (std::uint64_t index = end; index-- > consumerIndex_;) {
    const std::uint8_t* source = entryEnd(index) - stride_;
    const auto cqe = structFrom<wire::Cqe>({entryEnd(index) - sizeof(wire::Cqe), sizeof(wire::Cqe)});
    if (wire::Cqe::UserIndex::get(cqe.userIndex) == userIndex) {
      ++dropped;
      if (onDropped) onDropped(cqe);
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

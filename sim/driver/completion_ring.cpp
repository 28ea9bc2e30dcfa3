#include "sim/driver/completion_ring.h"

#include <cassert>
#include <cstddef>

#include "models/wire/doorbell.h"

namespace hca::driver {
namespace {

/// In the signature byte: no pass of a new ring, the first of which has number 0.
constexpr std::uint8_t kNoPass = 0xFF;

}  // namespace

CompletionRing::CompletionRing(std::uint8_t* entries, std::uint8_t* record, unsigned logSize, std::uint32_t stride,
                               const CqCompression& compression)
    : entries_(entries), record_(record), logSize_(logSize), stride_(stride) {
  if (compression.layout != CompressionKind::kNone) expander_.emplace(compression);
  assert(stride == wire::kShortCqeSize || stride == sizeof(wire::Cqe) || stride == sizeof(wire::WideCqe));
}

void CompletionRing::initialise() {
  invalidate(entries_, logSize_, stride_);
  const wire::CqDoorbellRecord zero;
  std::memcpy(record_, &zero, sizeof zero);
}

void CompletionRing::invalidate(std::uint8_t* entries, unsigned logSize, std::uint32_t stride) {
  const std::uint64_t end = std::uint64_t{stride} << logSize;
  for (std::uint64_t at = stride; at <= end; at += stride) {
    entries[at - 1] = wire::OpOwn::kInitial;
    entries[at - 2] = kNoPass;
  }
}

wire::Cqe CompletionRing::takeExpanded() {
  if (staged_.empty()) expander_->expand(entries_, consumerIndex_, logSize_, staged_);
  ++consumerIndex_;
  return staged_.pop();
}

bool CompletionRing::isResize(std::uint64_t index) const {
  const std::uint8_t opOwn = entryEnd(index)[-1];
  return wire::OpOwn::Opcode::get(opOwn) == wire::CqeOpcode::kResize &&
         wire::OpOwn::Format::get(opOwn) != wire::CqeFormat::kCompressed;
}

void CompletionRing::stageAll() {
  while (isOwned(readIndex()) && !isResize(readIndex())) expander_->expand(entries_, readIndex(), logSize_, staged_);
}

std::optional<std::uint32_t> CompletionRing::moveTo(std::uint8_t* entries, unsigned logSize) {
  if (expander_) {
    stageAll();
    if (!isOwned(readIndex())) return std::nullopt;
    entries_ = entries;
    logSize_ = logSize;
    ++consumerIndex_;
    return static_cast<std::uint32_t>(staged_.size());
  }
  const std::uint64_t mask = (std::uint64_t{1} << logSize) - 1;
  std::uint64_t index = consumerIndex_;
  while (isOwned(index) && !isResize(index)) {
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

ByteView CompletionRing::inlineData(const wire::Cqe& cqe) const {
  switch (wire::OpOwn::Format::get(cqe.opOwn)) {
    case wire::CqeFormat::kInline32:
      return bytesOf(cqe).subview(0, wire::kInlineScatterSmall);
    case wire::CqeFormat::kInline64:
      return {entryEnd(consumerIndex_ - 1) - sizeof(wire::WideCqe), wire::kInlineScatterLarge};
    default:
      return {};
  }
}

void CompletionRing::publish() {
  wire::storeBigEndian(record_ + offsetof(wire::CqDoorbellRecord, consumerIndex),
                       static_cast<std::uint32_t>(consumerIndex_) & wire::kCqIndexMask);
}

std::uint32_t CompletionRing::clean(std::uint32_t userIndex, const std::function<void(const wire::Cqe&)>& onDropped) {
  if (expander_) return cleanStaged(userIndex, onDropped);
  std::uint64_t end = consumerIndex_;
  while (end < consumerIndex_ + entries() && isOwned(end)) ++end;
  std::uint32_t dropped = 0;
  // From the youngest down: entries that stay move up into the room of those that go.
  for (std::uint64_t index = end; index-- > consumerIndex_;) {
    const std::uint8_t* source = entryEnd(index) - stride_;
    const wire::Cqe cqe = cqeAt(index);
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

std::uint32_t CompletionRing::cleanStaged(std::uint32_t userIndex,
                                          const std::function<void(const wire::Cqe&)>& onDropped) {
  stageAll();
  const auto isGone = [userIndex](const wire::Cqe& cqe) {
    return wire::Cqe::UserIndex::get(cqe.userIndex) == userIndex;
  };
  std::uint32_t dropped = 0;
  for (std::size_t i = staged_.size(); i-- > 0;) {
    if (!isGone(staged_[i])) continue;
    ++dropped;
    if (onDropped) onDropped(staged_[i]);
  }
  for (std::size_t left = staged_.size(); left > 0; --left) {
    const wire::Cqe cqe = staged_.pop();
    if (!isGone(cqe)) staged_.push(cqe);
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

#include "sim/driver/cqe_expander.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "models/base/byte_view.h"

namespace hca::driver {
namespace {

/// The slots of a ring of 64-byte entries.
class Slots {
 public:
  Slots(std::uint8_t* entries, unsigned logSize) : entries_(entries), mask_((std::uint64_t{1} << logSize) - 1) {}
  [[nodiscard]] std::uint8_t* at(std::uint64_t index) const { return entries_ + (index & mask_) * sizeof(wire::Cqe); }
  [[nodiscard]] wire::Cqe entry(std::uint64_t index) const {
    return structFrom<wire::Cqe>({at(index), sizeof(wire::Cqe)});
  }
  void invalidate(std::uint64_t index) const { at(index)[offsetof(wire::Cqe, opOwn)] = wire::OpOwn::kInitial; }

 private:
  std::uint8_t* entries_;
  std::uint64_t mask_;
};

bool isBlock(std::uint8_t opOwn) { return wire::OpOwn::Format::get(opOwn) == wire::CqeFormat::kCompressed; }

}  // namespace

bool CqeExpander::isOwned(const std::uint8_t* end, std::uint64_t index, unsigned logSize) const {
  if (!enhanced_) return wire::isSoftwareOwned(end[-1], static_cast<std::uint32_t>(index), logSize);
  return end[-2] == static_cast<std::uint8_t>(index >> logSize) &&
         wire::OpOwn::Opcode::get(end[-1]) != wire::CqeOpcode::kInvalid;
}

std::uint32_t CqeExpander::expand(std::uint8_t* entries, std::uint64_t index, unsigned logSize,
                                  kernel::RingQueue<wire::Cqe>& out) {
  const Slots slots(entries, logSize);
  const wire::Cqe first = slots.entry(index);
  if (isBlock(first.opOwn)) {
    return enhanced_ ? expandEnhanced(entries, index, logSize, out) : expandBasic(entries, index, logSize, out);
  }
  title_ = first;
  position_ = 0;
  slots.invalidate(index);
  out.push(first);
  return 1;
}

std::uint32_t CqeExpander::expandBasic(std::uint8_t* entries, std::uint64_t index, unsigned logSize,
                                       kernel::RingQueue<wire::Cqe>& out) {
  constexpr std::uint32_t kArray = wire::kMiniCqesPerArray;
  const Slots slots(entries, logSize);
  title_ = slots.entry(index);
  // More than the ring has is a title that was overwritten: the queue ignores overruns.
  const std::uint32_t count = std::min(title_.byteCount.host(), std::uint32_t{1} << logSize);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t array = i / kArray;
    const std::uint8_t* const minis = slots.at(index + (array == 0 ? 1 : array * kArray));
    out.push(restore(minis + i % kArray * sizeof(wire::MiniCqe), i));
  }
  for (std::uint32_t i = 0; i < count; ++i) slots.invalidate(index + i);
  return count;
}

std::uint32_t CqeExpander::expandEnhanced(std::uint8_t* entries, std::uint64_t index, unsigned logSize,
                                          kernel::RingQueue<wire::Cqe>& out) {
  const Slots slots(entries, logSize);
  const std::uint8_t* const minis = slots.at(index);
  const auto last = static_cast<std::uint32_t>(wire::OpOwn::Opcode::get(slots.entry(index).opOwn));
  for (std::uint32_t i = 0; i <= last; ++i) out.push(restore(minis + i * sizeof(wire::MiniCqe), ++position_));
  for (std::uint32_t i = 0; i <= last; ++i) slots.invalidate(index + i);
  return last + 1;
}

// `position`: completions since the title.
wire::Cqe CqeExpander::restore(const std::uint8_t* mini, std::uint32_t position) const {
  wire::Cqe cqe = title_;
  wire::OpOwn::Format::set(cqe.opOwn, wire::CqeFormat::kPlain);
  if (wire::OpOwn::Opcode::get(cqe.opOwn) == wire::CqeOpcode::kRequester) {
    const auto own = structFrom<wire::RequesterMiniCqe>({mini, sizeof(wire::RequesterMiniCqe)});
    cqe.byteCount = own.byteCount;
    cqe.wqeCounter = own.wqeCounter;
    cqe.opcodeQp =
        wire::Be32((cqe.opcodeQp.host() & wire::Cqe::LocalQp::kMask) | wire::Cqe::SendOpcode::make(own.sendOpcode));
    return cqe;
  }
  const auto own = structFrom<wire::MiniCqe>({mini, sizeof(wire::MiniCqe)});
  cqe.byteCount = own.byteCount;
  cqe.wqeCounter = wire::Be16(static_cast<std::uint16_t>(title_.wqeCounter.host() + position));
  if (format_ == adapter::MiniFormat::kHash) {
    cqe.rssHash = wire::Be32(std::uint32_t{own.high.host()} << 16 | own.low.host());
    return cqe;
  }
  cqe.checksum = own.high;
  if (position != 0) cqe.rssHash = wire::Be32(0);  // the title's is of its own packet
  if (format_ == adapter::MiniFormat::kChecksumStrideIndex) cqe.wqeCounter = own.low;
  return cqe;
}

}  // namespace hca::driver

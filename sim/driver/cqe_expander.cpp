#include "sim/driver/cqe_expander.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "models/base/byte_view.h"
#include "models/wire/mini_cqe.h"

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
  advance_ = advanceOf(first);
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
  std::uint32_t advance = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint8_t* const minis = slots.at(index + wire::miniArraySlot(i / kArray * kArray));
    const wire::Cqe cqe = wire::restoreCqe(title_, minis + i % kArray * sizeof(wire::MiniCqe), advance, format_);
    advance += advanceOf(cqe);
    out.push(cqe);
  }
  for (std::uint32_t i = 0; i < count; ++i) slots.invalidate(index + i);
  return count;
}

std::uint32_t CqeExpander::expandEnhanced(std::uint8_t* entries, std::uint64_t index, unsigned logSize,
                                          kernel::RingQueue<wire::Cqe>& out) {
  const Slots slots(entries, logSize);
  const std::uint8_t* const minis = slots.at(index);
  const auto last = static_cast<std::uint32_t>(wire::OpOwn::Opcode::get(slots.entry(index).opOwn));
  for (std::uint32_t i = 0; i <= last; ++i) {
    const wire::Cqe cqe = wire::restoreCqe(title_, minis + i * sizeof(wire::MiniCqe), advance_, format_);
    advance_ += advanceOf(cqe);
    out.push(cqe);
  }
  for (std::uint32_t i = 0; i <= last; ++i) slots.invalidate(index + i);
  return last + 1;
}

}  // namespace hca::driver

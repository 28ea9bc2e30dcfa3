#include "models/adapter/event/msix_table.h"

#include <cassert>

namespace hca::adapter {
namespace {

constexpr std::uint32_t kAddressLow = 0;
constexpr std::uint32_t kAddressHigh = 4;
constexpr std::uint32_t kData = 8;
constexpr std::uint32_t kControl = 12;
constexpr std::uint8_t kMaskBit = 1;
constexpr std::uint32_t kBitsPerWord = 64;

std::uint32_t loadLittleEndian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 |
         std::uint32_t{bytes[3]} << 24;
}

}  // namespace

MsixTable::MsixTable(const AdapterContext& context, std::uint32_t vectors)
    : context_(context), entries_(vectors), pending_((vectors + kBitsPerWord - 1) / kBitsPerWord), messages_(vectors) {
  reset();
}

void MsixTable::reset() {
  for (Entry& entry : entries_) {
    entry = {};
    entry[kControl] = kMaskBit;
  }
  for (std::uint64_t& word : pending_) word = 0;
  enabled_ = false;
  functionMasked_ = false;
}

void MsixTable::setControl(bool enabled, bool functionMasked) {
  enabled_ = enabled;
  functionMasked_ = functionMasked;
  for (std::uint32_t vector = 0; vector < vectors(); ++vector) releaseIfPending(vector);
}

void MsixTable::fire(InterruptVector vector) {
  const std::uint32_t index = vector.value();
  assert(index < vectors());
  if (!enabled_) {
    ++firedWhileDisabled_;
  } else if (masked(index)) {
    setPending(index, true);
    tell(observe::InterruptEvent::Action::kMaskedPending, index);
  } else {
    send(index);
  }
}

void MsixTable::writeTable(std::uint32_t offset, ByteView bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t at = offset + i;
    if (at >= tableBytes()) return;
    const std::size_t field = at % kEntryBytes;
    // Only the mask of the vector control word exists.
    const std::uint8_t writable = field < kControl ? 0xFF : field == kControl ? kMaskBit : 0;
    entries_[at / kEntryBytes][field] = bytes[i] & writable;
    const bool lastOfEntry = field == kEntryBytes - 1 || i + 1 == bytes.size();
    if (lastOfEntry) releaseIfPending(static_cast<std::uint32_t>(at / kEntryBytes));
  }
}

void MsixTable::readTable(std::uint32_t offset, MutableByteView into) const {
  for (std::size_t i = 0; i < into.size(); ++i) {
    const std::size_t at = offset + i;
    into[i] = at < tableBytes() ? entries_[at / kEntryBytes][at % kEntryBytes] : 0;
  }
}

void MsixTable::readPending(std::uint32_t offset, MutableByteView into) const {
  for (std::size_t i = 0; i < into.size(); ++i) {
    const std::size_t at = offset + i;
    into[i] = at < pendingBytes() ? static_cast<std::uint8_t>(pending_[at / 8] >> (at % 8 * 8)) : 0;
  }
}

bool MsixTable::masked(std::uint32_t vector) const {
  return functionMasked_ || (entries_[vector][kControl] & kMaskBit) != 0;
}

bool MsixTable::pending(std::uint32_t vector) const {
  return (pending_[vector / kBitsPerWord] >> (vector % kBitsPerWord) & 1) != 0;
}

void MsixTable::setPending(std::uint32_t vector, bool value) {
  const std::uint64_t bit = std::uint64_t{1} << (vector % kBitsPerWord);
  std::uint64_t& word = pending_[vector / kBitsPerWord];
  word = value ? word | bit : word & ~bit;
}

void MsixTable::releaseIfPending(std::uint32_t vector) {
  if (!enabled_ || masked(vector) || !pending(vector)) return;
  setPending(vector, false);
  send(vector);
}

bool MsixTable::isLost(std::uint32_t vector) {
  for (auto loss = losses_.begin(); loss != losses_.end(); ++loss) {
    if (loss->vector.value() != vector || !loss->occasions.take()) continue;
    const auto happened = loss->happened;
    if (loss->occasions.isOver()) losses_.erase(loss);
    if (happened) happened();
    return true;
  }
  return false;
}

void MsixTable::send(std::uint32_t vector) {
  if (!losses_.empty() && isLost(vector)) return;
  const Entry& entry = entries_[vector];
  constexpr std::uint64_t kWordAligned = ~std::uint64_t{3};
  const std::uint64_t address =
      std::uint64_t{loadLittleEndian(&entry[kAddressHigh])} << 32 | loadLittleEndian(&entry[kAddressLow]);
  ++messages_[vector];
  tell(observe::InterruptEvent::Action::kMessageSent, vector);
  context_.dma.message(BusAddress(address & kWordAligned), loadLittleEndian(&entry[kData]));
}

void MsixTable::tell(observe::InterruptEvent::Action action, std::uint32_t vector) {
  context_.probes.interrupt.fire([&] {
    return observe::InterruptEvent{action, context_.now(), context_.host, context_.adapter, InterruptVector(vector)};
  });
}

}  // namespace hca::adapter

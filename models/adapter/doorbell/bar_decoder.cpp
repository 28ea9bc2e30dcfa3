#include "models/adapter/doorbell/bar_decoder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "models/wire/endian.h"
#include "models/wire/mmio_map.h"

namespace hca::adapter {

namespace {
constexpr std::size_t kWord = 4;
constexpr std::size_t kDoubleWord = 8;
constexpr std::uint64_t kTableLength = wire::kMaxMsixVectors * wire::kMsixEntrySize;
constexpr std::uint64_t kPendingLength = wire::kMaxMsixVectors / 8;

bool isWithin(std::uint64_t offset, std::uint64_t start, std::uint64_t length) {
  return offset >= start && offset - start < length;
}
}  // namespace

void BarDecoder::write(std::uint64_t offset, ByteView bytes) {
  if (wire::isUarOffset(offset)) {
    return writeUar(UarIndex(wire::uarIndexOf(offset)), wire::offsetInUar(offset), bytes);
  }
  if (offset < wire::InitSegment::kSize) return blocks_.command.writeRegister(offset, bytes);
  if (isWithin(offset, wire::kMsixTableOffset, kTableLength)) {
    return blocks_.vectors.writeTable(static_cast<std::uint32_t>(offset - wire::kMsixTableOffset), bytes);
  }
  if (wire::isDeviceMemoryOffset(offset)) return blocks_.deviceMemory.write(offset, bytes);
  ++ignoredWrites_;
}

void BarDecoder::expectWrite(std::uint64_t offset, ByteView bytes) {
  if (!wire::isUarOffset(offset) || wire::offsetInUar(offset) < wire::UarPage::kBlueFlame) return;
  blocks_.sendQueue.expectDoorbell(bytes);
}

void BarDecoder::read(std::uint64_t offset, MutableByteView into) const {
  std::fill(into.data(), into.data() + into.size(), std::uint8_t{0});
  if (offset < wire::InitSegment::kSize) return blocks_.command.readRegister(offset, into);
  if (isWithin(offset, wire::kMsixTableOffset, kTableLength)) {
    return blocks_.vectors.readTable(static_cast<std::uint32_t>(offset - wire::kMsixTableOffset), into);
  }
  if (isWithin(offset, wire::kMsixPendingOffset, kPendingLength)) {
    return blocks_.vectors.readPending(static_cast<std::uint32_t>(offset - wire::kMsixPendingOffset), into);
  }
  if (wire::isDeviceMemoryOffset(offset)) blocks_.deviceMemory.read(offset, into);
}

void BarDecoder::writeUar(UarIndex uar, std::uint64_t offset, ByteView bytes) {
  using Uar = wire::UarPage;
  if (offset == Uar::kEqArm || offset == Uar::kEqUpdate) {
    if (bytes.size() != kWord) {
      ++ignoredWrites_;
      return;
    }
    return blocks_.events.onDoorbell(uar, wire::loadBigEndian<std::uint32_t>(bytes.data()), offset == Uar::kEqArm);
  }
  const bool isArm = offset == Uar::kCqArm || offset == Uar::kCqArm + kWord;
  if (isArm || offset >= Uar::kBlueFlame) return writeDoorbell64(uar, offset, bytes);
  ++ignoredWrites_;
}

void BarDecoder::writeDoorbell64(UarIndex uar, std::uint64_t offset, ByteView bytes) {
  if (bytes.size() >= kDoubleWord) return onDoorbell64(uar, offset, bytes);
  const std::uint64_t absolute = wire::uarOffset(uar.value()) + offset;
  if (bytes.size() != kWord) {
    ++ignoredWrites_;
  } else if (offset % kDoubleWord == 0) {
    half_ = HalfWritten{absolute, 0};
    std::memcpy(&half_->high, bytes.data(), kWord);
  } else if (half_ && half_->offset + kWord == absolute) {
    std::array<std::uint8_t, kDoubleWord> whole;
    std::memcpy(whole.data(), &half_->high, kWord);
    std::memcpy(whole.data() + kWord, bytes.data(), kWord);
    half_.reset();
    onDoorbell64(uar, offset - kWord, ByteView(whole.data(), whole.size()));
  } else {
    ++ignoredWrites_;
  }
}

void BarDecoder::onDoorbell64(UarIndex uar, std::uint64_t offset, ByteView bytes) {
  using Uar = wire::UarPage;
  if (offset == Uar::kCqArm) return blocks_.completion.onArm(uar, wire::loadBigEndian<std::uint64_t>(bytes.data()));
  if (offset < Uar::kBlueFlame) {
    ++ignoredWrites_;
    return;
  }
  // Either half of a BlueFlame register takes a doorbell; the lines further in belong to a copy that starts there.
  const auto place = static_cast<std::uint32_t>((offset - Uar::kBlueFlame) % Uar::kBlueFlameHalf);
  if (place == 0) return blocks_.sendQueue.onDoorbell(uar, bytes);
  blocks_.sendQueue.onBlueFlameLine(uar, place, bytes);
}

}  // namespace hca::adapter

#include "sim/vfio/passthrough_function.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

namespace hca::vfio {
namespace {

constexpr std::uint32_t kControl = 2, kTable = 4;
constexpr std::uint32_t kEnable = 1U << 15, kFunctionMask = 1U << 14, kSizeMask = 0x7FF, kBarMask = 7;
constexpr std::uint32_t kEntryBytes = 16;
constexpr std::uint32_t kMessageAddress = 0xFEE0'0000;  // of the first processor (Intel SDM volume 3, 10.11.1)
constexpr std::uint32_t kWord = 8, kLine = 64;

void putWord(std::uint8_t* to, std::uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

// What a processor would send of [offset, offset + left) as one access.
std::uint32_t accessAt(std::uint64_t offset, std::uint64_t left, std::uint32_t longest) {
  if (offset % kWord == 0 && left >= kWord) {
    const std::uint64_t toLine = kLine - offset % kLine;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>({left / kWord * kWord, toLine, longest}));
  }
  std::uint32_t width = 4;
  while (width > left || offset % width != 0) width /= 2;
  return width;
}

}  // namespace

PassthroughFunction::PassthroughFunction(pcie::PciFunction& function)
    : function_(function), configuration_(function), msix_(configuration_.find(VirtualConfiguration::kMsixId)) {
  if (msix_ == 0 || configuration_.find(VirtualConfiguration::kExpressId) == 0) {
    throw std::invalid_argument("a function that is handed out needs MSI-X and a reset of its own");
  }
  vectors_ = (configuration_.readFunction(msix_ + kControl, 2) & kSizeMask) + 1;
  const std::uint32_t table = configuration_.readFunction(msix_ + kTable, 4);
  tableBar_ = table & kBarMask;
  tableOffset_ = table & ~kBarMask;
}

PassthroughFunction::~PassthroughFunction() { function_.setInterruptSink(nullptr); }

void PassthroughFunction::open(VectorListener& listener) {
  function_.reset();
  configuration_.setMemoryDecoding(true);
  configuration_.begin();
  ++users_;
  borrowings_ = 0;
  listener_ = &listener;
  function_.setInterruptSink(this);
}

void PassthroughFunction::close() {
  configuration_.setBusMastering(false);
  raises_.clear();
  listener_ = nullptr;
  function_.reset();
  function_.setInterruptSink(nullptr);
}

int PassthroughFunction::readConfig(std::uint64_t offset, MutableByteView into) {
  if (offset > VirtualConfiguration::kSize || into.size() > VirtualConfiguration::kSize - offset) return EINVAL;
  configuration_.read(static_cast<std::uint32_t>(offset), into);
  return 0;
}

int PassthroughFunction::writeConfig(std::uint64_t offset, ByteView bytes) {
  if (offset > VirtualConfiguration::kSize || bytes.size() > VirtualConfiguration::kSize - offset) return EINVAL;
  const auto effect = configuration_.write(static_cast<std::uint32_t>(offset), bytes);
  constexpr std::uint32_t kCommand = 4;
  if (borrowings_ != 0 && offset <= kCommand && offset + bytes.size() > kCommand) {
    isMemoryWanted_ = configuration_.decodesMemory();
    configuration_.setMemoryDecoding(true);
  }
  return effect == VirtualConfiguration::Effect::kReset ? reset() : 0;
}

bool PassthroughFunction::isTable(unsigned bar, std::uint64_t offset) const {
  return bar == tableBar_ && offset >= tableOffset_ && offset < tableOffset_ + std::uint64_t{vectors_} * kEntryBytes;
}

int PassthroughFunction::checkBar(unsigned bar, std::uint64_t offset, std::uint64_t length) const {
  const std::uint64_t size = bar < kBars ? function_.barSize(bar) : 0;
  if (length == 0 || offset > size || length > size - offset) return EINVAL;
  return configuration_.decodesMemory() ? 0 : EIO;
}

int PassthroughFunction::writeBar(unsigned bar, std::uint64_t offset, ByteView bytes) {
  if (const int error = checkBar(bar, offset, bytes.size()); error != 0) return error;
  for (std::size_t done = 0; done < bytes.size();) {
    const std::uint32_t length = accessAt(offset + done, bytes.size() - done, kLine);
    if (!isTable(bar, offset + done)) function_.barWrite(bar, offset + done, {bytes.data() + done, length});
    done += length;
  }
  return 0;
}

int PassthroughFunction::readBar(unsigned bar, std::uint64_t offset, std::uint32_t length, ReadDone done) {
  if (const int error = checkBar(bar, offset, length); error != 0) return error;
  struct Reading {
    std::vector<std::uint8_t> bytes;
    std::uint32_t left;
    ReadDone done;
  };
  auto reading = std::make_shared<Reading>(Reading{std::vector<std::uint8_t>(length, 0xFF), length, std::move(done)});
  const auto arrived = [](Reading& all, std::uint32_t bytes) {
    all.left -= bytes;
    if (all.left == 0) all.done({all.bytes.data(), all.bytes.size()});
  };
  for (std::uint32_t at = 0; at < length;) {
    const std::uint32_t width = accessAt(offset + at, length - at, kWord);
    if (isTable(bar, offset + at)) {
      arrived(*reading, width);
    } else {
      function_.barRead(bar, offset + at, width, [reading, at, width, arrived](ByteView bytes) {
        std::memcpy(reading->bytes.data() + at, bytes.data(), std::min<std::size_t>(bytes.size(), width));
        arrived(*reading, width);
      });
    }
    at += width;
  }
  return 0;
}

void PassthroughFunction::setMsix(bool isOn) {
  const std::uint32_t control = configuration_.readFunction(msix_ + kControl, 2);
  configuration_.writeFunction(msix_ + kControl, 2, (control & ~(kEnable | kFunctionMask)) | (isOn ? kEnable : 0));
}

void PassthroughFunction::writeEntry(std::uint32_t vector) {
  const bool raises = vector < raises_.size() && raises_[vector];
  std::uint8_t entry[kEntryBytes] = {};
  putWord(entry, kMessageAddress);
  putWord(entry + 8, vector);
  putWord(entry + 12, raises ? 0 : 1);
  const std::uint64_t at = tableOffset_ + std::uint64_t{vector} * kEntryBytes;
  function_.barWrite(tableBar_, at, {entry, kWord});
  function_.barWrite(tableBar_, at + kWord, {entry + kWord, kWord});
}

// Whether the user has the registers enabled or not: then they are on until the writes have arrived.
void PassthroughFunction::writeTable(std::uint32_t first, std::uint32_t count) {
  const bool isBorrowed = borrowings_ != 0 || !configuration_.decodesMemory();
  if (isBorrowed && borrowings_ == 0) isMemoryWanted_ = false;
  if (isBorrowed) configuration_.setMemoryDecoding(true);
  for (std::uint32_t i = 0; i < count; ++i) writeEntry(first + i);
  if (!isBorrowed) return;
  ++borrowings_;
  function_.barRead(tableBar_, tableOffset_, 4, [this, user = users_](ByteView) {
    if (user == users_) releaseMemory();
  });
}

void PassthroughFunction::releaseMemory() {
  if (--borrowings_ == 0) configuration_.setMemoryDecoding(isMemoryWanted_);
}

int PassthroughFunction::connectVectors(std::uint32_t first, const std::vector<bool>& raises) {
  const auto count = static_cast<std::uint32_t>(raises.size());
  if (count == 0 || first >= vectors_ || count > vectors_ - first) return EINVAL;
  const bool isNew = raises_.empty();
  if (!isNew && first + count > raises_.size()) return EINVAL;
  if (isNew) {
    raises_.assign(first + count, false);
    if (first != 0) writeTable(0, first);
    setMsix(true);
  }
  std::copy(raises.begin(), raises.end(), raises_.begin() + first);
  writeTable(first, count);
  return 0;
}

int PassthroughFunction::disableVectors() {
  if (raises_.empty()) return EINVAL;
  setMsix(false);
  const auto count = static_cast<std::uint32_t>(raises_.size());
  raises_.clear();
  writeTable(0, count);
  return 0;
}

int PassthroughFunction::reset() {
  configuration_.resetFunction();
  if (!raises_.empty()) writeTable(0, static_cast<std::uint32_t>(raises_.size()));
  return 0;
}

void PassthroughFunction::onInterrupt(InterruptVector vector) {
  if (listener_ != nullptr && vector.value() < raises_.size() && raises_[vector.value()]) {
    listener_->onVector(vector.value());
  }
}

}  // namespace hca::vfio

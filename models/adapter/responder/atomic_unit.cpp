#include "models/adapter/responder/atomic_unit.h"

#include <algorithm>
#include <cstring>

namespace hca::adapter {

namespace {
constexpr std::uint32_t kOperandSize = 8;
}

bool AtomicUnit::isLocked(BusAddress address) const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [&](const Slot& slot) { return slot.busy && slot.operation.address == address; });
}

void AtomicUnit::execute(const AtomicOperation& operation) {
  if (!isLocked(operation.address)) return start(operation);
  ++conflicts_;
  waiting_.push(operation);
}

void AtomicUnit::start(const AtomicOperation& operation) {
  const auto free = std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.busy; });
  const auto index = static_cast<std::size_t>(free - slots_.begin());
  if (free == slots_.end()) slots_.emplace_back();
  slots_[index] = {true, operation};
  pcie::DmaRead read;
  read.address = operation.address;
  read.length = kOperandSize;
  read.traffic = pcie::Traffic::kPayload;
  read.client = this;
  read.token = index;
  context_.dma.read(read);
}

void AtomicUnit::onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) {
  const AtomicOperation operation = slots_[token].operation;
  std::uint64_t before = 0;
  const bool ok = status == host::DmaStatus::kOk;
  if (ok) {
    std::memcpy(&before, data.data(), sizeof before);
    const std::uint64_t swapped = before == operation.compare ? operation.swapOrAdd : before;
    const std::uint64_t after = operation.compareSwap ? swapped : before + operation.swapOrAdd;
    pcie::DmaWrite write;
    write.address = operation.address;
    write.data = bytesOf(after);
    write.length = kOperandSize;
    context_.dma.write(write);
  }
  slots_[token].busy = false;
  startWaiting(operation.address);
  listener_->onAtomicDone(operation, ok, before);
}

// The next that waits for `address`. Its read is ordered behind the write just posted.
void AtomicUnit::startWaiting(BusAddress address) {
  for (std::size_t i = 0, count = waiting_.size(); i < count; ++i) {
    const AtomicOperation operation = waiting_.pop();
    if (operation.address == address && !isLocked(address)) {
      start(operation);
    } else {
      waiting_.push(operation);
    }
  }
}

}  // namespace hca::adapter

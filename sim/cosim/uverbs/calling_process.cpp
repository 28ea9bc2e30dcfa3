#include "sim/cosim/uverbs/calling_process.h"

#include <string>
#include <utility>

namespace hca::cosim {

CallingProcess::CallingProcess(int number, std::unique_ptr<ProgramMemory> memory, host::BusAddressSpace& space)
    : number_(number),
      memory_(std::move(memory)),
      space_(space),
      owner_(space.addOwner("program " + std::to_string(number), *memory_)) {}

CallingProcess::~CallingProcess() { space_.removeOwner(owner_); }

Pinned CallingProcess::pin(std::uint64_t address, std::uint64_t length) {
  std::uint8_t byte = 0;
  constexpr std::uint64_t kPage = host::BusAddressSpace::kPageSize;
  if (length == 0 || length > host::BusAddressSpace::kLongestMapping || address + length < address) return nullptr;
  // Every page must be there, as when the kernel pins it.
  for (std::uint64_t at = address; at < address + length; at = (at / kPage + 1) * kPage) {
    if (!memory_->copyIn(at, {&byte, 1})) return nullptr;
  }
  memory_->remember(address, length);
  return std::make_shared<PinnedRange>(shared_from_this(), space_, regions_, owner_, address, length);
}

std::shared_ptr<EventFile> CallingProcess::openEventFile(int writeEnd, int readEnd, std::size_t recordSize) {
  auto file = EventFile::open(number_, writeEnd, readEnd, recordSize);
  if (file != nullptr) eventFiles_[readEnd] = file;
  return file;
}

std::shared_ptr<EventFile> CallingProcess::eventFile(int readEnd) const {
  const auto at = eventFiles_.find(readEnd);
  return at == eventFiles_.end() ? nullptr : at->second;
}

void CallingProcess::end() {
  memory_->setListener(nullptr);
  memory_->end();
  eventFiles_.clear();
}

}  // namespace hca::cosim

#include "sim/driver/dma_memory.h"

#include <utility>

namespace hca::driver {

DmaMemory::DmaMemory(host::BusAddressSpace& space, std::string name)
    : space_(space), owner_(space.addOwner(std::move(name), memory_)) {}

DmaMemory::~DmaMemory() { space_.removeOwner(owner_); }

DmaBuffer DmaMemory::allocate(std::uint64_t length) {
  constexpr std::uint64_t kPage = host::BusAddressSpace::kPageSize;
  DmaBuffer buffer;
  buffer.length = (length + kPage - 1) / kPage * kPage;
  buffer.address = memory_.allocate(buffer.length, kPage);
  buffer.bytes = memory_.direct(buffer.address, buffer.length);
  buffer.bus = space_.map(owner_, buffer.address, buffer.length);
  return buffer;
}

void DmaMemory::free(const DmaBuffer& buffer) {
  if (buffer.length == 0) return;
  space_.unmap(buffer.bus, buffer.length);
  memory_.free(buffer.address);
}

}  // namespace hca::driver

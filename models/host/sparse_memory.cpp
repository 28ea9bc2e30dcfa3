#include "models/host/sparse_memory.h"

#include <new>
#include <stdexcept>

namespace hca::host {

namespace {
// User space of x86-64 ends here.
constexpr std::uint64_t kEndOfAddresses = std::uint64_t{1} << 47;
}  // namespace

std::uint64_t SparseMemory::allocate(std::uint64_t length, std::uint64_t alignment) {
  if (length == 0) throw std::invalid_argument("an allocation needs a length");
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) throw std::invalid_argument("alignment: power of two");
  if (length > kEndOfAddresses || alignment > kEndOfAddresses) throw std::bad_alloc();
  const std::uint64_t address = (next_ + alignment - 1) & ~(alignment - 1);
  if (address + length > kEndOfAddresses) throw std::bad_alloc();

  Block block;
  block.arena = &arenaFor(length);
  block.bytes = block.arena->allocate(length);
  block.length = length;
  blocks_.emplace_hint(blocks_.end(), address, block);
  next_ = address + length;
  allocatedBytes_ += length;
  return address;
}

ZeroedArena& SparseMemory::arenaFor(std::uint64_t length) {
  if (length > kSmallBlock) return large_;
  smallBytes_ += length;
  return smallBytes_ <= kFewBytes ? few_ : many_;
}

bool SparseMemory::free(std::uint64_t address) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return false;
  const Block& block = found->second;
  allocatedBytes_ -= block.length;
  block.arena->free(block.bytes, block.length);
  if (lastHit_ == found) lastHit_ = blocks_.end();
  blocks_.erase(found);
  return true;
}

std::uint8_t* SparseMemory::direct(std::uint64_t address, std::uint64_t length) {
  auto block = lastHit_;
  // Unsigned differences: an address below the block gives an offset beyond any length.
  if (block == blocks_.end() || address - block->first >= block->second.length) {
    auto after = blocks_.upper_bound(address);
    if (after == blocks_.begin()) return nullptr;
    block = --after;
    lastHit_ = block;
  }
  const std::uint64_t offset = address - block->first;
  if (offset > block->second.length || length > block->second.length - offset) return nullptr;
  return block->second.bytes + offset;
}

bool SparseMemory::read(std::uint64_t address, MutableByteView into) {
  const std::uint8_t* bytes = direct(address, into.size());
  if (bytes == nullptr) return false;
  if (!into.empty()) std::memcpy(into.data(), bytes, into.size());
  return true;
}

bool SparseMemory::write(std::uint64_t address, ByteView bytes) {
  std::uint8_t* target = direct(address, bytes.size());
  if (target == nullptr) return false;
  if (!bytes.empty()) std::memcpy(target, bytes.data(), bytes.size());
  return true;
}

}  // namespace hca::host

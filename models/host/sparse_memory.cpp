#include "models/host/sparse_memory.h"

#include <cstdlib>
#include <new>
#include <stdexcept>

namespace hca::host {

namespace {
// Blocks start on a cache line, so that copying an entry of a queue touches one line and not two.
constexpr std::uint64_t kBlockAlignment = 64;
// User space of x86-64 ends here.
constexpr std::uint64_t kEndOfAddresses = std::uint64_t{1} << 47;
}  // namespace

void SparseMemory::Free::operator()(std::uint8_t* bytes) const { std::free(bytes); }

std::uint64_t SparseMemory::allocate(std::uint64_t length, std::uint64_t alignment) {
  if (length == 0) throw std::invalid_argument("an allocation needs a length");
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) throw std::invalid_argument("alignment: power of two");
  if (length > kEndOfAddresses || alignment > kEndOfAddresses) throw std::bad_alloc();
  const std::uint64_t address = (next_ + alignment - 1) & ~(alignment - 1);
  if (address + length > kEndOfAddresses) throw std::bad_alloc();

  Block block;
  // calloc leaves untouched pages of a large block to the operating system; clearing them would allocate them.
  block.storage.reset(static_cast<std::uint8_t*>(std::calloc(1, length + kBlockAlignment)));
  if (block.storage == nullptr) throw std::bad_alloc();
  const auto misalignment = reinterpret_cast<std::uintptr_t>(block.storage.get()) % kBlockAlignment;
  block.bytes = block.storage.get() + (kBlockAlignment - misalignment) % kBlockAlignment;
  block.length = length;
  blocks_.emplace_hint(blocks_.end(), address, std::move(block));
  next_ = address + length;
  allocatedBytes_ += length;
  return address;
}

bool SparseMemory::free(std::uint64_t address) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return false;
  allocatedBytes_ -= found->second.length;
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

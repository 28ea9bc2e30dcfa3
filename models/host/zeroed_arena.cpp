#include "models/host/zeroed_arena.h"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <new>

namespace hca::host {

namespace {
constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

constexpr std::size_t roundUp(std::size_t size, std::size_t unit) { return (size + unit - 1) / unit * unit; }
std::uint8_t* pointer(std::uintptr_t address) { return reinterpret_cast<std::uint8_t*>(address); }

// Address space of `size` bytes at a multiple of `alignment`, both of whole pages.
std::uintptr_t reserve(std::size_t size, std::size_t alignment) {
  const std::size_t spare = alignment - kPage;
  void* const mapped = mmap(nullptr, size + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  const auto first = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uintptr_t begin = roundUp(first, alignment);
  if (begin != first) munmap(mapped, begin - first);
  const std::size_t behind = first + spare - begin;
  if (behind != 0) munmap(pointer(begin + size), behind);
  return begin;
}
}  // namespace

ZeroedArena::~ZeroedArena() {
  for (const auto& chunk : chunks_) release(chunk);
}

std::uint8_t* ZeroedArena::allocate(std::size_t length) {
  // A line more than asked for: were all rings a multiple of a page apart, their first lines would share few sets of
  // the processor's caches.
  const std::size_t space = roundUp(length, kCacheLine) + kCacheLine;
  if (current_ == chunks_.end() || current_->second.size - current_->second.used < space) current_ = addChunk(space);
  Chunk& chunk = current_->second;
  std::uint8_t* const bytes = pointer(current_->first + chunk.used);
  chunk.used += space;
  ++chunk.blocks;
  ASAN_UNPOISON_MEMORY_REGION(bytes, length);
  return bytes;
}

void ZeroedArena::free(std::uint8_t* bytes, std::size_t length) {
  const auto address = reinterpret_cast<std::uintptr_t>(bytes);
  const auto chunk = std::prev(chunks_.upper_bound(address));
  if (--chunk->second.blocks == 0 && chunk != current_) {
    release(*chunk);
    chunks_.erase(chunk);
    return;
  }
  ASAN_POISON_MEMORY_REGION(bytes, length);
  const std::uintptr_t first = roundUp(address, kPage);
  const std::uintptr_t end = (address + length) / kPage * kPage;
  if (first < end) madvise(pointer(first), end - first, MADV_DONTNEED);
}

ZeroedArena::Chunks::iterator ZeroedArena::addChunk(std::size_t atLeast) {
  const bool isHuge = pages_ == Pages::kHuge;
  const std::size_t unit = isHuge ? kHugePage : kPage;
  const std::size_t size = roundUp(std::max(chunk_, atLeast), unit);
  const std::uintptr_t begin = reserve(size, unit);
  if (isHuge) madvise(pointer(begin), size, MADV_HUGEPAGE);  // a wish: small pages do as well
  ASAN_POISON_MEMORY_REGION(pointer(begin), size);
  return chunks_.emplace(begin, Chunk{size, 0, 0}).first;
}

void ZeroedArena::release(const Chunks::value_type& chunk) {
  ASAN_UNPOISON_MEMORY_REGION(pointer(chunk.first), chunk.second.size);
  munmap(pointer(chunk.first), chunk.second.size);
}

}  // namespace hca::host

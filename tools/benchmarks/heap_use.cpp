#include "tools/benchmarks/heap_use.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace {

std::int64_t live = 0;

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  live += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}

}  // namespace

// The replaceable allocation functions; the others (arrays, nothrow, sized) end in these.
void* operator new(std::size_t size) { return counted(std::malloc(size == 0 ? 1 : size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(unit, (size + unit - 1) / unit * unit));
}
void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  live -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { operator delete(memory); }

namespace hca::bench {

std::int64_t heapUse() { return live; }

}  // namespace hca::bench

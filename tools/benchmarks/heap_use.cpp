#include "tools/benchmarks/heap_use.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace {
std::int64_t live = 0;
}  // namespace

// The replaceable allocation functions; the others (arrays, nothrow, sized) end in these.
void* operator new(std::size_t size) {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  live += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  live -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace hca::bench {

std::int64_t heapUse() { return live; }

}  // namespace hca::bench

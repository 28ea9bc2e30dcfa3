// Counts what is allocated. Replaces the allocator of the executable, so it is for tests in an executable of their own.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace hca::test {

/// Allocations since the program began, and their bytes.
inline std::size_t allocations = 0, allocatedBytes = 0;

}  // namespace hca::test

// Not inlined: the compiler would see malloc behind one of a pair and not behind the other.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++hca::test::allocations;
  hca::test::allocatedBytes += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

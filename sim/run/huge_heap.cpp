#include "sim/run/huge_heap.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdlib>

namespace hca::sim {

// The allocator grows its heap in steps; the wish for huge pages covers what is mapped when it is said. So: one step of
// more address space than any study needs. Pages that nobody touches are never backed.
void preferHugePages() {
  constexpr int kReserve = 512 << 20;
  constexpr int kLarge = 32 << 20;  // from there on mapped on its own: the most that the library takes
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  if (mallopt(M_TOP_PAD, kReserve) == 0) return;
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_MMAP_THRESHOLD, kLarge);
  std::free(std::malloc(kHugePage));  // more than is left of the first step
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  const std::uintptr_t begin = (end - kReserve + kHugePage - 1) / kHugePage * kHugePage;
  madvise(reinterpret_cast<void*>(begin), end / kHugePage * kHugePage - begin, MADV_HUGEPAGE);
}

}  // namespace hca::sim

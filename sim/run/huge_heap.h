// How a program's memory is mapped.
#pragma once

namespace hca::sim {

/// Asks the operating system to back the heap with pages of 2 MiB. Objects of thousands of queue pairs don't fit what a
/// processor remembers of 4 KiB pages, and every first touch would walk the page table. Changes settings of the C
/// library's allocator, so it is for a program's main, before it allocates much; harmless where the system has no such
/// pages or another allocator is in use.
void preferHugePages();

}  // namespace hca::sim

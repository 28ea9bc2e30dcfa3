// Memory that will be needed soon.
#pragma once

#include <cstddef>

namespace hca {

/// Bytes that the processor moves at a time between memory and its caches.
constexpr std::size_t kCacheLine = 64;

/// Starts to bring `size` bytes, which begin on a cache line, into the processor's cache: with thousands of queue pairs
/// each is cold when its turn comes, and its lines would be waited for one after the other.
inline void prefetch(const void* begin, std::size_t size) {
  const auto* const bytes = static_cast<const char*>(begin);
  for (std::size_t at = 0; at < size; at += kCacheLine) __builtin_prefetch(bytes + at, 1);
  // Without this GCC 12 takes a function that does nothing but prefetch for one without effect, and drops calls of it.
  __asm__ volatile("");
}

}  // namespace hca

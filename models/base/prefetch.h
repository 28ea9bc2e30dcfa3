// Memory that will be needed soon.
#pragma once

#include <cstddef>

namespace hca {

/// Starts to bring `object` into the processor's cache: with thousands of queue pairs each is cold when its turn comes,
/// and its lines would be waited for one after the other. Null does nothing.
template <class Object>
inline void prefetch(const Object* object) {
  constexpr std::size_t kLine = 64;
  const char* const bytes = reinterpret_cast<const char*>(object);
  for (std::size_t at = 0; at < sizeof(Object); at += kLine) __builtin_prefetch(bytes + at, 1);
}

}  // namespace hca

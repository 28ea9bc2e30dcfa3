// What the cases of vfio_user share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace vfio_test {

inline int failures = 0;

#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      ++::vfio_test::failures;                                                     \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                              \
  } while (false)

constexpr std::uint32_t kNop = 0x80D0000, kQueryIssi = 0x10A0000;
constexpr std::size_t kPage = 4096;

// vfio_interrupts.cpp
void interrupts();
void resets();
void resetKeepsInterrupts();

}  // namespace vfio_test

// Where accesses to register pages go. Each preload library has its own bus.
#pragma once

#include <stdint.h>

namespace hca::shim {

/// Posted; a device that is gone swallows it. `length`: 1, 2, 4, 8 at a multiple of it, or a multiple of 8 up to 64
/// within a line of 64.
void writeRegister(uint64_t page, uint32_t offset, const uint8_t* bytes, uint32_t length);
/// `length`: 1, 2, 4 or 8, in the low bytes; all ones where a device is gone.
[[nodiscard]] uint64_t readRegister(uint64_t page, uint32_t offset, uint32_t length);

}  // namespace hca::shim

// Big-endian registers of BAR 0.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "models/pcie/pci_function.h"
#include "models/wire/endian.h"

namespace hca::driver {

/// Posted; reaches the adapter in order.
inline void writeRegister(pcie::PciFunction& function, std::uint64_t offset, std::uint32_t value) {
  std::uint8_t bytes[4];
  wire::storeBigEndian(bytes, value);
  function.barWrite(0, offset, {bytes, sizeof bytes});
}

inline void readRegister(pcie::PciFunction& function, std::uint64_t offset, std::function<void(std::uint32_t)> done) {
  function.barRead(0, offset, 4, [done = std::move(done)](ByteView bytes) {
    done(wire::loadBigEndian<std::uint32_t>(bytes.data()));
  });
}

}  // namespace hca::driver

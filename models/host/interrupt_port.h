// Where interrupt messages leave the PCIe fabric.
#pragma once

#include <cstdint>

#include "models/base/ids.h"

namespace hca::host {

/// Takes the memory writes that the root complex recognises as message signaled interrupts by their address
/// (0xFEE00000 to 0xFEEFFFFF on x86).
class InterruptPort {
 public:
  /// An MSI or MSI-X message arrived at Calendar::now(): a write of the 32-bit little-endian word `data` to `address`.
  virtual void onMessage(BusAddress address, std::uint32_t data) = 0;

 protected:
  ~InterruptPort() = default;
};

}  // namespace hca::host

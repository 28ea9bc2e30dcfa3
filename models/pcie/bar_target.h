// What an adapter does with accesses to its base address registers.
#pragma once

#include <cstdint>

#include "models/base/byte_view.h"

namespace hca::pcie {

/// Called by the endpoint at Calendar::now() == the time at which the access reached the adapter, in bus order.
class BarTarget {
 public:
  /// `bytes` in memory order; valid during the call. The range lies within the register's size.
  virtual void onBarWrite(unsigned bar, std::uint64_t offset, ByteView bytes) = 0;
  /// That write is on its way. A hint: what it will need can be made ready.
  virtual void expectBarWrite(unsigned bar, std::uint64_t offset, ByteView bytes) {
    (void)bar;
    (void)offset;
    (void)bytes;
  }
  /// Fills `into`, which is preset to all ones: what no register claims is left so.
  virtual void onBarRead(unsigned bar, std::uint64_t offset, MutableByteView into) = 0;
  /// Function-level reset: every object is gone. The endpoint has dropped all DMA; no result of it will come.
  virtual void onReset() = 0;
  /// Message Control of the MSI-X capability was written: MSI-X Enable and Function Mask.
  virtual void onMsixControl(bool enabled, bool functionMasked) {
    (void)enabled;
    (void)functionMasked;
  }

 protected:
  ~BarTarget() = default;
};

}  // namespace hca::pcie

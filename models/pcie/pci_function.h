// The boundary between an adapter model and whatever drives it: the driver role, a VFIO device, a vfio-user server.
#pragma once

#include <cstdint>
#include <functional>

#include "models/base/byte_view.h"
#include "models/base/ids.h"
#include "models/base/units.h"

namespace hca::pcie {

/// Interrupt messages as the host's interrupt controller delivered them.
class InterruptSink {
 public:
  /// MSI-X vector `vector` was delivered. Runs at Calendar::now().
  virtual void onInterrupt(InterruptVector vector) = 0;

 protected:
  ~InterruptSink() = default;
};

/// An adapter as the host's software sees it, through the PCIe link. One driver at a time.
/// Accesses start at Calendar::now(). Widths are 1, 2, 4 or 8 bytes (configuration: 1, 2, 4), naturally aligned;
/// a longer BAR write (write-combined BlueFlame copy) is a multiple of 8 up to 64 bytes within one 64-byte line.
class PciFunction {
 public:
  virtual ~PciFunction() = default;

  /// Configuration space is read and written without simulated time (the kernel enumerates before anything is timed).
  /// Little-endian value in the low bytes; reserved registers read 0; out of range reads all ones, as PCI does.
  virtual std::uint32_t configRead(std::uint32_t offset, std::uint32_t width) = 0;
  virtual void configWrite(std::uint32_t offset, std::uint32_t width, std::uint32_t value) = 0;

  /// Bytes of base address register `bar`, 0 if there is none.
  [[nodiscard]] virtual std::uint64_t barSize(unsigned bar) const = 0;
  /// Posted write; bytes in memory order. Reaches the adapter after the link's time, in order.
  virtual void barWrite(unsigned bar, std::uint64_t offset, ByteView bytes) = 0;
  /// Non-posted read; `done` runs when the completion is back at the CPU. An access that no register claims, or while
  /// memory space is disabled, returns all ones.
  using ReadDone = std::function<void(ByteView bytes)>;
  virtual void barRead(unsigned bar, std::uint64_t offset, std::uint32_t width, ReadDone done) = 0;

  /// Function-level reset: every object is gone, DMA under way is dropped, configuration space is as after power-on.
  virtual void reset() = 0;

  /// Where delivered MSI-X vectors go; nullptr: nowhere.
  virtual void setInterruptSink(InterruptSink* sink) = 0;
};

}  // namespace hca::pcie

// What a TLP is for: accounted apart, shown apart.
#pragma once

#include <cstdint>

namespace hca::pcie {

enum class Traffic : std::uint8_t {
  kDoorbell,  ///< MMIO writes of software, BlueFlame included
  kMmioRead,
  kConfiguration,
  kWqe,
  kDoorbellRecord,
  kPayload,
  kCqe,
  kEqe,
  kInterrupt,  ///< MSI-X message
  kCommand,    ///< command queue entries and mailboxes
  kContext,    ///< context and translation cache refills
  kDevice,     ///< the adapter's own accesses, for no queue pair ([dma.NAME])
  kCount,
};

}  // namespace hca::pcie

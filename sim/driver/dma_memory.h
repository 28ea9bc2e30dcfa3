// Memory that both a program and the adapter reach.
#pragma once

#include <cstdint>
#include <string>

#include "models/host/bus_address_space.h"
#include "models/host/sparse_memory.h"

namespace hca::driver {

/// A buffer, by all its names.
struct DmaBuffer {
  std::uint64_t address = 0;      ///< virtual, of its owner
  std::uint64_t length = 0;       ///< bytes; 0: no buffer
  std::uint8_t* bytes = nullptr;  ///< in this process
  BusAddress bus;
};

/// One owner's memory, with what of it is mapped for DMA.
class DmaMemory {
 public:
  DmaMemory(host::BusAddressSpace& space, std::string name);
  ~DmaMemory();
  DmaMemory(const DmaMemory&) = delete;
  DmaMemory& operator=(const DmaMemory&) = delete;

  /// Zeroed whole pages of at least `length` > 0 bytes, mapped; contiguous on the bus.
  DmaBuffer allocate(std::uint64_t length);
  void free(const DmaBuffer& buffer);

  [[nodiscard]] host::SparseMemory& memory() { return memory_; }
  [[nodiscard]] host::BusAddressSpace& space() { return space_; }
  [[nodiscard]] OwnerId owner() const { return owner_; }

 private:
  host::BusAddressSpace& space_;
  host::SparseMemory memory_;
  OwnerId owner_;
};

}  // namespace hca::driver

// The memory that functions of a user reach.
#pragma once

#include <cstdint>
#include <map>

#include "models/host/bus_address_space.h"

namespace hca::vfio {

/// What an IOMMU translates with for the functions that are attached to it: ranges of bus addresses that the user chose
/// (a guest's own memory addresses), as Linux's type 1 version 2 IOMMU for users keeps them. Errors are those of
/// errno(3) that it gives.
class DmaDomain {
 public:
  /// `memory`: the user's; outlives this.
  explicit DmaDomain(host::MemoryBackend& memory);

  [[nodiscard]] host::BusAddressSpace& space() { return space_; }

  struct Access {
    bool reads = true;  ///< what the functions may do
    bool writes = true;
  };
  /// EEXIST if any of it is mapped already, EINVAL for addresses that aren't there, or that aren't whole pages.
  int map(std::uint64_t bus, std::uint64_t address, std::uint64_t length, Access access);
  /// Whole mappings alone: EINVAL, and nothing happened, if the range would leave a part of one.
  int unmap(std::uint64_t bus, std::uint64_t length, std::uint64_t& unmapped);
  std::uint64_t unmapAll();

  [[nodiscard]] std::size_t mappings() const { return mappings_.size(); }

 private:
  /// Refuses what the mapping doesn't allow.
  class Gate final : public host::MemoryBackend {
   public:
    Gate(host::MemoryBackend& memory, Access access) : memory_(memory), access_(access) {}
    bool read(std::uint64_t address, MutableByteView into) override {
      return access_.reads && memory_.read(address, into);
    }
    bool write(std::uint64_t address, ByteView bytes) override {
      return access_.writes && memory_.write(address, bytes);
    }

   private:
    host::MemoryBackend& memory_;
    Access access_;
  };
  [[nodiscard]] OwnerId ownerOf(Access access) const;
  [[nodiscard]] bool overlaps(std::uint64_t bus, std::uint64_t length) const;

  Gate both_;
  Gate reads_;
  Gate writes_;
  host::BusAddressSpace space_;
  OwnerId mayDoBoth_;
  OwnerId mayRead_;
  OwnerId mayWrite_;
  std::map<std::uint64_t, std::uint64_t> mappings_;  // bus address to length
};

}  // namespace hca::vfio

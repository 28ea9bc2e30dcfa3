// Strong identifiers: a queue pair number can't be used where a completion queue number is meant.
#pragma once

#include <cstdint>
#include <functional>

namespace hca {

/// An unsigned number of one kind. Compared and ordered by value; never does arithmetic.
template <class Tag, class Value = std::uint32_t>
class Id {
 public:
  using value_type = Value;
  constexpr Id() = default;
  constexpr explicit Id(Value value) : value_(value) {}
  [[nodiscard]] constexpr Value value() const { return value_; }
  friend constexpr bool operator==(Id a, Id b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(Id a, Id b) { return a.value_ != b.value_; }
  friend constexpr bool operator<(Id a, Id b) { return a.value_ < b.value_; }

 private:
  Value value_ = 0;
};

using QpNumber = Id<struct QpNumberTag>;                ///< 24 bits
using CqNumber = Id<struct CqNumberTag>;                ///< 24 bits
using EqNumber = Id<struct EqNumberTag>;                ///< 8 bits
using SrqNumber = Id<struct SrqNumberTag>;              ///< 24 bits
using PdNumber = Id<struct PdNumberTag>;                ///< 24 bits
using UarIndex = Id<struct UarIndexTag>;                ///< page of BAR0, in units of 4 KiB
using MemoryKey = Id<struct MemoryKeyTag>;              ///< 32 bits: index[31:8] | variant[7:0]; an lkey or rkey
using InterruptVector = Id<struct InterruptVectorTag>;  ///< MSI-X table entry
using HostIndex = Id<struct HostIndexTag>;
using AdapterIndex = Id<struct AdapterIndexTag>;  ///< within its host
using OwnerId = Id<struct OwnerIdTag>;            ///< who owns memory or objects: a process, a guest, the driver
using Lid = Id<struct LidTag, std::uint16_t>;     ///< InfiniBand local identifier
/// An address on the host's side of PCIe, as a DMA engine uses it. Never a program's virtual address.
using BusAddress = Id<struct BusAddressTag, std::uint64_t>;

/// `address` advanced by `offset` bytes.
constexpr BusAddress advance(BusAddress address, std::uint64_t offset) { return BusAddress(address.value() + offset); }

}  // namespace hca

template <class Tag, class Value>
struct std::hash<hca::Id<Tag, Value>> {
  std::size_t operator()(hca::Id<Tag, Value> id) const noexcept { return std::hash<Value>{}(id.value()); }
};

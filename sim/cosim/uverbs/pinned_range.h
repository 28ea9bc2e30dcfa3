// A piece of a program's memory that the adapter may reach.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "models/adapter/memory/page_list.h"
#include "models/host/bus_address_space.h"
#include "sim/cosim/uverbs/region_names.h"

namespace hca::cosim {

class CallingProcess;

/// Mapped for DMA as long as it lives.
class PinnedRange {
 public:
  /// `process`: whose memory it is.
  PinnedRange(std::shared_ptr<const CallingProcess> process, host::BusAddressSpace& space, RegionNames& names,
              OwnerId owner, std::uint64_t address, std::uint64_t length)
      : process_(std::move(process)),
        space_(space),
        names_(names),
        length_(length),
        bus_(space.map(owner, address, length)),
        region_(names.add(address, length)) {}
  ~PinnedRange() {
    names_.remove(region_);
    space_.unmap(bus_, length_);
  }
  PinnedRange(const PinnedRange&) = delete;
  PinnedRange& operator=(const PinnedRange&) = delete;

  [[nodiscard]] const CallingProcess& process() const { return *process_; }
  [[nodiscard]] BusAddress bus() const { return bus_; }
  /// Its number among the program's regions.
  [[nodiscard]] std::uint32_t region() const { return region_; }
  [[nodiscard]] std::uint64_t length() const { return length_; }
  /// The pages of 4 KiB that hold it.
  [[nodiscard]] adapter::PageList pages() const {
    constexpr std::uint64_t kPage = host::BusAddressSpace::kPageSize;
    adapter::PageList list;
    list.offset = static_cast<std::uint32_t>(bus_.value() % kPage);
    const std::uint64_t end = bus_.value() + length_;
    for (std::uint64_t at = bus_.value() - list.offset; at < end; at += kPage) list.pages.emplace_back(at);
    return list;
  }

 private:
  std::shared_ptr<const CallingProcess> process_;  // keeps what follows
  host::BusAddressSpace& space_;
  RegionNames& names_;
  std::uint64_t length_;
  BusAddress bus_;
  std::uint32_t region_;
};

using Pinned = std::shared_ptr<PinnedRange>;

}  // namespace hca::cosim

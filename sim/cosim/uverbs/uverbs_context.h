// All that one open device of a program has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/host/bus_address_space.h"
#include "sim/cosim/device_description.h"
#include "sim/cosim/program_memory.h"
#include "sim/cosim/uverbs/blue_flame_registers.h"
#include "sim/cosim/uverbs/handle_table.h"
#include "sim/cosim/uverbs/host_shares.h"
#include "sim/cosim/uverbs/user_objects.h"
#include "sim/driver/driver_config.h"
#include "sim/driver/driver_role.h"

namespace hca::cosim {

/// Event files of a process, by the number of their read end.
class EventFileTable {
 public:
  virtual std::shared_ptr<EventFile> openEventFile(int writeEnd, int readEnd, std::size_t recordSize) = 0;
  [[nodiscard]] virtual std::shared_ptr<EventFile> eventFile(int readEnd) const = 0;

 protected:
  ~EventFileTable() = default;
};

struct UverbsContext {
  driver::DriverRole& driver;
  const driver::DriverConfig& config;
  const DeviceDescription& device;
  host::BusAddressSpace& space;
  ProgramMemory& memory;
  OwnerId memoryOwner;   ///< of the process, in `space`
  RegionNames& regions;  ///< of the process
  EventFileTable& eventFiles;
  HostShares& shares;  ///< of the host
  int processId;
  OwnerId owner;  ///< of this open device, at the driver

  HandleTable<UserPd> pds{};
  HandleTable<UserXrcd> xrcds{};
  HandleTable<UserDm> dms{};
  HandleTable<UserMr> mrs{};
  HandleTable<UserMw> mws{};
  HandleTable<UserAh> ahs{};
  HandleTable<UserCq> cqs{};
  HandleTable<UserSrq> srqs{};
  HandleTable<UserQp> qps{};
  HandleTable<UserWq> wqs{};
  HandleTable<UserSpread> spreads{};
  HandleTable<UserFlow> flows{};
  HandleTable<UserFlowMatcher> flowMatchers{};
  HandleTable<UserUar> uarObjects{};
  std::vector<UarIndex>
      uars{};           ///< pages that the program may map, those of the first kind in the order of their indices
  bool isOpen = false;  ///< after the first command
  std::unique_ptr<BlueFlameRegisters> blueFlame{};  ///< of a program that doesn't make its own UAR objects
  std::shared_ptr<EventFile> asyncEvents{};
  std::uint8_t nextKeyVariant = 0;
  std::optional<adapter::TransportDomainNumber> transportDomain{};
  std::uint32_t cqeVersion = 1;  ///< 0: completions name queues by their numbers, not by the program's indices

  [[nodiscard]] bool hasUar(UarIndex uar) const { return std::find(uars.begin(), uars.end(), uar) != uars.end(); }

  /// Device memory on page `page` of BAR0; nullptr if the program has none there.
  [[nodiscard]] std::shared_ptr<UserDm> dmOn(std::uint64_t page) const {
    for (const auto& [handle, dm] : dms.all()) {
      if (page >= dm->firstPage() && page < dm->endPage()) return dm;
    }
    return nullptr;
  }

  /// nullptr if the program has no such memory.
  [[nodiscard]] Pinned pin(std::uint64_t address, std::uint64_t length) {
    std::uint8_t byte = 0;
    constexpr std::uint64_t kPage = host::BusAddressSpace::kPageSize;
    if (length == 0 || length > host::BusAddressSpace::kLongestMapping || address + length < address) return nullptr;
    // Every page must be there, as when the kernel pins it.
    for (std::uint64_t at = address; at < address + length; at = (at / kPage + 1) * kPage) {
      if (!memory.copyIn(at, {&byte, 1})) return nullptr;
    }
    memory.remember(address, length);
    return std::make_shared<PinnedRange>(space, regions, memoryOwner, address, length);
  }
};

}  // namespace hca::cosim

// All that one open device of a program has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/host/bus_address_space.h"
#include "sim/cosim/device_description.h"
#include "sim/cosim/uverbs/blue_flame_registers.h"
#include "sim/cosim/uverbs/handle_table.h"
#include "sim/cosim/uverbs/host_shares.h"
#include "sim/cosim/uverbs/user_objects.h"
#include "sim/driver/driver_config.h"
#include "sim/driver/driver_role.h"

namespace hca::cosim {

struct UverbsContext {
  driver::DriverRole& driver;
  const driver::DriverConfig& config;
  const DeviceDescription& device;
  host::BusAddressSpace& space;
  HostShares& shares;  ///< of the host
  OwnerId owner;       ///< of this open device, at the driver

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
};

}  // namespace hca::cosim

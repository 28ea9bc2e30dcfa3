// What happens to an adapter and its ports from outside, when its configuration says so.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/adapter/hca.h"
#include "models/kernel/calendar.h"
#include "sim/config/config.h"
#include "sim/system/cabling.h"

namespace hca::sim {

/// Plays the subnet manager, who pulls cables, and what breaks adapters, of one adapter: keys `..._at` of
/// [adapter.port] and [adapter.device].
class OutsideHand final : private kernel::CalendarClient {
 public:
  /// `firstPort`: of the host's ports, the adapter's first one.
  OutsideHand(const config::AdapterSections& sections, kernel::Calendar& calendar, Cabling& cabling, adapter::Hca& hca,
              std::uint32_t host, std::uint32_t firstPort);

 private:
  using Deed = std::function<void()>;
  void plan(Time when, Deed deed);
  void planPort(const adapter::PortConfig& port, std::uint8_t number, std::uint32_t host, std::uint32_t hostPort);
  void onCalendar(std::uint64_t token) override { deeds_[token](); }

  kernel::Calendar& calendar_;
  Cabling& cabling_;
  adapter::Hca& hca_;
  std::vector<Deed> deeds_;
};

}  // namespace hca::sim

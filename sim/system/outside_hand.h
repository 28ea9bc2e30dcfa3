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
/// [adapter.port] and [adapter.device]; and whoever else wants the same things to happen (sim/drills).
class OutsideHand final : private kernel::CalendarClient {
 public:
  /// `firstPort`: of the host's ports, the adapter's first one.
  OutsideHand(const config::AdapterSections& sections, kernel::Calendar& calendar, Cabling& cabling, adapter::Hca& hca,
              std::uint32_t host, std::uint32_t firstPort);

  /// Pulls the cable of the adapter's port `number`, counted from 1, or plugs it in.
  void setCable(std::uint8_t number, bool isPlugged);
  /// The adapter fails for good.
  void breakAdapter(adapter::HealthSyndrome syndrome, bool asksForReset = false) { hca_.fail(syndrome, asksForReset); }

 private:
  using Deed = std::function<void()>;
  void plan(Time when, Deed deed);
  void planPort(const adapter::PortConfig& port, std::uint8_t number);
  void onCalendar(std::uint64_t token) override { deeds_[token](); }

  kernel::Calendar& calendar_;
  Cabling& cabling_;
  adapter::Hca& hca_;
  std::uint32_t host_;
  std::uint32_t firstPort_;
  std::vector<Deed> deeds_;
};

}  // namespace hca::sim

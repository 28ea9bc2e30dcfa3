// A PCI Express link with its two ports.
#pragma once

#include <memory>
#include <systemc>

#include "models/base/units.h"
#include "models/kernel/calendar_module.h"
#include "models/pcie/link_side.h"
#include "models/pcie/pcie_config.h"
#include "models/pcie/protocol.h"

namespace hca::pcie {

/// Connects an adapter with a host (protocol.h says how to talk to it). Each direction has its own lanes; upstream is
/// from the adapter to the host. A TLP takes, beside its time on the lanes, the latency of both ports and the
/// propagation. Register accesses and interrupt messages share the lanes and credits with DMA.
class Link : public sc_core::sc_module {
 public:
  enum class Direction : std::uint8_t { kUpstream, kDownstream };

  // For the adapter.
  TargetSocket endpoint_target_socket{"endpoint_target_socket"};
  InitiatorSocket endpoint_initiator_socket{"endpoint_initiator_socket"};
  // For the host.
  TargetSocket host_target_socket{"host_target_socket"};
  InitiatorSocket host_initiator_socket{"host_initiator_socket"};

  /// Throws std::invalid_argument for sizes that PCI Express has no code for.
  Link(const sc_core::sc_module_name& name, kernel::CalendarModule& calendar, const PcieConfig& config);

  [[nodiscard]] const TrafficCounts& counts(Direction direction) const { return side(direction).counts(); }
  /// What waits for credits: to be looked at when nothing moves.
  [[nodiscard]] WaitState waitState(Direction direction) const { return side(direction).waitState(); }
  [[nodiscard]] const LinkTiming& timing() const { return context_.timing; }

 private:
  void start_of_simulation() override;
  [[nodiscard]] const LinkSide& side(Direction direction) const {
    return direction == Direction::kUpstream ? endpoint_ : host_;
  }

  LinkContext context_;
  LinkSide endpoint_;
  LinkSide host_;
};

/// Sum over all kinds of traffic.
[[nodiscard]] TrafficCount total(const TrafficCounts& counts);

}  // namespace hca::pcie

#include "models/pcie/link.h"

namespace hca::pcie {

Link::Link(const sc_core::sc_module_name& name, kernel::CalendarModule& calendar, const PcieConfig& config)
    : sc_core::sc_module(name),
      context_(calendar, config),
      endpoint_(context_, config.upstreamCredits, endpoint_target_socket, endpoint_initiator_socket),
      host_(context_, config.downstreamCredits, host_target_socket, host_initiator_socket) {
  endpoint_.connect(host_);
  host_.connect(endpoint_);
}

void Link::start_of_simulation() {
  endpoint_.inspectDevice();
  host_.inspectDevice();
}

TrafficCount total(const TrafficCounts& counts) {
  TrafficCount sum;
  for (const TrafficCount& count : counts) {
    sum.tlps += count.tlps;
    sum.bytes += count.bytes;
    sum.busy += count.busy;
  }
  return sum;
}

}  // namespace hca::pcie

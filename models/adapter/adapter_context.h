// What every block of an adapter gets at construction.
#pragma once

#include "models/base/ids.h"
#include "models/kernel/calendar.h"
#include "models/kernel/clock_domain.h"
#include "models/kernel/payload_pool.h"
#include "models/observe/probes.h"
#include "models/pcie/dma_port.h"

namespace hca::adapter {

/// References shared by the blocks of one adapter; all outlive the blocks.
struct AdapterContext {
  kernel::Calendar& calendar;
  observe::Probes& probes;
  kernel::PayloadPool& pool;
  pcie::DmaPort& dma;
  kernel::ClockDomain clock;
  HostIndex host;
  AdapterIndex adapter;

  [[nodiscard]] Time now() const { return calendar.now(); }
  /// `n` cycles of the adapter's clock after now.
  [[nodiscard]] Time after(Cycles n) const { return calendar.now() + clock.span(n); }
};

}  // namespace hca::adapter

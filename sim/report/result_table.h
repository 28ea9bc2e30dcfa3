// A result for the terminal.
#pragma once

#include <string>

#include "sim/report/result.h"

namespace hca::report {

/// Tables of at most 100 columns: flows; simulated beside published figures where there are any; queues that gave
/// events, overran or lost entries; PCIe; then everything that went wrong, in words.
[[nodiscard]] std::string toTable(const Result& result);

/// What drivers left in adapters, as toTable tells it; empty: nothing. A reset or a disabled interface is no driver's
/// fault: what is lost by these is in the JSON result alone.
[[nodiscard]] std::string leftLines(const Result& result);

/// The part of it about notifications that only the adapter's arm rule gave; empty if there were none.
[[nodiscard]] std::string hazardLines(const Result& result);

/// A drill and what the driver said to it, in lines.
[[nodiscard]] std::string drillText(const DrillResult& drill);

}  // namespace hca::report

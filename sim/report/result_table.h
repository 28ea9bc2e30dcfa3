// A result for the terminal.
#pragma once

#include <string>

#include "sim/report/result.h"

namespace hca::report {

/// Tables of at most 100 columns: flows; simulated beside published figures where there are any; queues that gave
/// events, overran or lost entries; PCIe; then everything that went wrong, in words.
[[nodiscard]] std::string toTable(const Result& result);

/// The part of it about notifications that only the adapter's arm rule gave; empty if there were none.
[[nodiscard]] std::string hazardLines(const Result& result);

}  // namespace hca::report

// A result as JSON.
#pragma once

#include <string>

#include "sim/report/result.h"

namespace hca::report {

/// JSON text with a line end, fields in a fixed order. The same result gives the same bytes.
/// Counts are integers. Times are nanoseconds: integers where they are whole, else with up to three decimals (exact, a
/// picosecond is 0.001). Rates and ratios are rounded to six decimals.
[[nodiscard]] std::string toJson(const Result& result);

/// "post_to_completion" or "half_round_trip"
[[nodiscard]] const char* name(LatencyKind kind);
/// "upstream" or "downstream"
[[nodiscard]] const char* name(PcieResult::Direction direction);

}  // namespace hca::report
